import type { JobState } from './job.ts';

/** An owner's jobs under one name. It has ended when all of them have; then no more may be added. Times in ms since 1970. */
export interface Batch {
  /** `bat_` + 32 base32 characters. */
  id: string;
  owner: string;
  name: string;
  /** Where its event goes beside the registered endpoints: of the first request that named one. */
  webhookUrl?: string;
  createdAtMs: number;
  /** When jobs were last about to be added. */
  touchedAtMs: number;
  completedAtMs?: number;
  /** Jobs by the state in which they ended; there once it has ended. */
  counts?: Partial<Record<JobState, number>>;
  /** Its event is still to be made out into deliveries. */
  pending?: true;
  /** Of its event, once they have been made out. */
  deliveries?: string[];
  /** Grows by one with every write; every write is conditional on the one before. */
  revision: number;
}

/** A batch is not ended before this long after jobs were last added: there may be more to come. */
export const batchQuietMs = 60_000;
