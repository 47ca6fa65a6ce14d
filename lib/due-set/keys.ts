/** Every Redis key of the product. The braces keep a stage's keys together should the database ever be sharded. */
export interface DueSetKeys {
  /** Sorted set: job id → due time in ms, or while leased: lease end in ms + claims/16. */
  due: string;
  /** There while a drain ticks, or a submit has just woken one; what it says: exchange.lua and role.lua. */
  awake: string;
  /** There while the provider fails, and until what waited meanwhile is worked off; see exchange.lua and breaker.lua. */
  breaker: string;
}

export function dueSetKeys(stage: string, account: string): DueSetKeys {
  const key = (name: string) => `pk:{${stage}}:${name}:${account}`;
  return { due: key('due'), awake: key('awake'), breaker: key('breaker') };
}
