/** What a run of deliver did. Times in ms. */
export interface DeliverReport {
  /** `idle`: nothing due in the window. `window`: its time was over. `no_time`: it never began. `covered`: another one goes on for as long. `limit`: the due set's plan is used up. */
  ended: 'idle' | 'window' | 'no_time' | 'covered' | 'limit';
  ticks: number;
  claims: number;
  /** Now minus the oldest due time met, at most. */
  dueLagMs: number;
  /** Deliveries and batches that were newly put into the set. */
  madeOut: number;
  /** Requests sent, those to the event bus included. */
  attempts: number;
  delivered: number;
  /** Attempts that are to be repeated. */
  failed: number;
  /** Deliveries that will not be tried again unless somebody asks for it. */
  dead: number;
  canceled: number;
  /** What did not fit into its receiver's line, and comes again later. */
  turnedAway: number;
  /** Claims not begun at the end of the window. */
  givenBack: number;
  /** Ids that nothing is known of. */
  orphans: number;
  lostLeases: number;
  failedExchanges: number;
}

export const nothingDelivered: DeliverReport = {
  ended: 'window',
  ticks: 0,
  claims: 0,
  dueLagMs: 0,
  madeOut: 0,
  attempts: 0,
  delivered: 0,
  failed: 0,
  dead: 0,
  canceled: 0,
  turnedAway: 0,
  givenBack: 0,
  orphans: 0,
  lostLeases: 0,
  failedExchanges: 0,
};
