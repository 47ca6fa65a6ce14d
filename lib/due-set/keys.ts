/** Every Redis key of the product. The braces keep a stage's keys together should the database ever be sharded. */
export interface DueSetKeys {
  /** Sorted set: job id → due time in ms, or while leased: lease end in ms + claims/16. */
  due: string;
  /** Sorted set: id of a job that is not sent yet → its rank; see enqueue.lua. */
  waiting: string;
  /** Hash: what the account's drains share. Its fields are explained in the parts of the exchange, beginning with exchange.lua. */
  account: string;
  /** Hash: how far each owner's line reaches; see enqueue.lua. */
  owners: string;
  /** Sorted set: id and line of a job that came to wait → its deadline in ms; see enqueue.lua. */
  deadlines: string;
  /** Set: ids of the accounts that have work. One for all of them. */
  busy: string;
}

export function dueSetKeys(stage: string, account: string): DueSetKeys {
  const key = (name: string) => `pk:{${stage}}:${name}:${account}`;
  return {
    due: key('due'),
    waiting: key('waiting'),
    account: key('account'),
    owners: key('owners'),
    deadlines: key('deadlines'),
    busy: busyKey(stage),
  };
}

/** The due set of events stands beside those of the accounts; no account can have this id. */
export const eventsSetId = '_events';

export function busyKey(stage: string): string {
  return `pk:{${stage}}:busy`;
}

/** Counter: requests to the API that were given to an owner in one minute, numbered since 1970. Expires. */
export function requestsKey(stage: string, owner: string, minute: number): string {
  return `pk:{${stage}}:requests:${owner}:${minute}`;
}
