/** Every Redis key of the product. The braces keep a stage's keys together should the database ever be sharded. */
export interface DueSetKeys {
  /** Sorted set: job id → due time in ms, or while leased: lease end in ms + claims/16. */
  due: string;
  /** There while a drain ticks (value irrelevant, expires with the drain's window). */
  awake: string;
}

export function dueSetKeys(stage: string, account: string): DueSetKeys {
  return { due: `pk:{${stage}}:due:${account}`, awake: `pk:{${stage}}:awake:${account}` };
}
