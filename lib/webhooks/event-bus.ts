import { messageOf } from '../errors.ts';
import type { Clock } from '../ports.ts';
import type { Delivery } from './delivery.ts';
import type { SendResult } from './retry.ts';

/* Deliveries to the event bus of the deployment: gathered for a moment, so that ten cost one call. */

/** What goes to the bus of one delivery. */
export type BusEntry = Pick<Delivery, 'eventId' | 'subjectId' | 'type' | 'body'>;

/**
 * Hands up to `busEntriesMax` entries to the bus. Resolves with one answer for each, in their order: null when it was taken,
 * else why not. Rejects when nothing is known of any of them.
 */
export type PutEntries = (entries: readonly BusEntry[]) => Promise<(string | null)[]>;

/** In one call, by EventBridge's own limit; ten bodies are under its limit of bytes too. */
const busEntriesMax = 10;
const gatherMs = 100;

interface Waiting {
  entry: BusEntry;
  tell: (result: SendResult) => void;
}

export class EventBus {
  readonly #putEntries: PutEntries;
  readonly #clock: Pick<Clock, 'monotonicMs' | 'sleep'>;
  #waiting: Waiting[] = [];

  constructor(putEntries: PutEntries, clock: Pick<Clock, 'monotonicMs' | 'sleep'>) {
    this.#putEntries = putEntries;
    this.#clock = clock;
  }

  /** Never rejects: trouble is a fault of the result. */
  put(entry: BusEntry): Promise<SendResult> {
    return new Promise((tell) => {
      this.#waiting.push({ entry, tell });
      if (this.#waiting.length === busEntriesMax) void this.#flush(this.#waiting);
      else if (this.#waiting.length === 1) void this.#flushLater(this.#waiting);
    });
  }

  async #flushLater(gathered: Waiting[]): Promise<void> {
    await this.#clock.sleep(gatherMs);
    await this.#flush(gathered);
  }

  async #flush(gathered: Waiting[]): Promise<void> {
    // It was full before its time came.
    if (gathered !== this.#waiting) return;
    this.#waiting = [];
    const startedAtMs = this.#clock.monotonicMs();
    const faults = await this.#faultsOf(gathered);
    const tookMs = this.#clock.monotonicMs() - startedAtMs;
    for (const [place, { tell }] of gathered.entries()) tell(resultOf(faults[place], tookMs));
  }

  async #faultsOf(gathered: readonly Waiting[]): Promise<readonly (string | null)[]> {
    try {
      return await this.#putEntries(gathered.map(({ entry }) => entry));
    } catch (error) {
      return gathered.map(() => messageOf(error));
    }
  }
}

/** As a receiver's answer would be: 200 for what was taken. An entry without an answer was not. */
function resultOf(fault: string | null | undefined, tookMs: number): SendResult {
  const rest = { tookMs, retryAfterMs: null };
  if (fault === null) return { status: 200, fault: null, snippet: '', ...rest };
  return { status: null, fault: 'event_bus', snippet: fault ?? 'no answer', ...rest };
}
