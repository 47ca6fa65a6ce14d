/* Apart from everything that needs a client: a worker's bundle takes these in and nothing else. */

export const benchStage = 'bench';
export const benchTable = 'pollkeeper-bench';
export const benchRegion = 'us-east-1';
/** The drain's one account, as lib/wire/adapters.ts names it. */
export const benchAccount = 'sume';
