/** What becomes of an id in the due set of events: it is done with, or due again in so long. */
export type EventSettle = { kind: 'remove' } | { kind: 'due'; delayMs: number };
