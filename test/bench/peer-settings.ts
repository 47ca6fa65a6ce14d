/*
 * How the peers are set up: each as well as its documentation allows, since beating a straw man shows nothing.
 *
 * All use one private Redis without persistence, as it comes: hz 10, which hosted ones do not let anybody change. Redis ends
 * blocking reads on that beat, and BullMQ waits for its delayed jobs with one: at hz 100 (see --hz) its lateness is a tenth.
 */

/** Sorted set of the hand-written loop: provider id → due time, ms. */
export const zremLoopKey = 'loop:due';

export const bullQueue = 'polls';

/**
 * Locks of 10 s, as long as Pollkeeper's leases, and looked after once a second, as often as Pollkeeper looks: measured, this
 * cost BullMQ nothing that shows, and a dead worker's jobs were found after 10.6 s instead of 12.4 s (every 5 s). Nothing is
 * kept of a finished job. A job may stall as often as there are kills: at the default of one, the second kill would lose it.
 */
export const bullWorkerOptions = {
  lockDuration: 10_000,
  stalledInterval: 1_000,
  maxStalledCount: 1_000,
  // How long it blocks when nothing at all is in the queue: longer means fewer idle commands, and costs nothing else.
  drainDelay: 10,
  removeOnComplete: { count: 0 },
  removeOnFail: { count: 0 },
};

/** Data that a job carries is all it needs; no event log, and no entry is kept when it is done. */
export const bullJobOptions = { removeOnComplete: true, removeOnFail: true };
