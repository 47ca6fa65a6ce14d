/* What chaos and its processes say to each other, over Node's channel between parent and child. */

/** One call that came to the provider. */
export interface ProviderCall {
  kind: 'create' | 'read';
  /** The provider's job id of a read, the idempotency key of a create. */
  about: string;
  /** Ms since 1970. */
  atMs: number;
  /** Another read of the same job was under way. */
  overlaps: boolean;
}

/** A function's run ended by itself. */
export interface RunEnded {
  kind: 'ended';
  report: Record<string, unknown>;
}

/** An answer of the API was given and thrown away. */
export interface AnswerLost {
  kind: 'answer-lost';
}
