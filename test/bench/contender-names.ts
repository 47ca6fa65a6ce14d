const contenderNames = ['limit', 'floor', 'bullmq', 'zrem-loop', 'pollkeeper'] as const;
export type ContenderName = (typeof contenderNames)[number];

export const contenderTitles: Record<ContenderName, string> = {
  limit: 'bare limit',
  floor: 'floor, from memory',
  bullmq: 'BullMQ',
  'zrem-loop': 'one-second ZREM loop',
  pollkeeper: 'Pollkeeper',
};

/** Those that keep their jobs in a store, and so go on after a kill. */
export const peers: readonly ContenderName[] = ['bullmq', 'zrem-loop'];
