import { DueSetError, messageOf } from './errors.ts';
import { pendingEvents } from './event.ts';
import type { EventQueue } from './event-ports.ts';
import type { Job } from './job.ts';
import type { Log } from './log.ts';
import type { Clock } from './ports.ts';

/** Jobs that wait for a call to come back. More are left to the sweep. */
const gatheredMax = 10_000;
/**
 * A job with older news may be leased just now, by a look that began before the newest were written: then it was made due in
 * vain. After this that look is over, and it is made due once more. So are all of a call that failed.
 */
const againMs = 2_000;

/** `wake`: the caller must wake who delivers. `again`: ids that are to be made due once more. */
interface Said {
  wake: boolean;
  again: string[];
}

interface Gathered {
  /** By id: there was news of the job before. */
  jobs: Map<string, boolean>;
  told: Promise<void>;
  settle: () => void;
}

/**
 * Makes jobs with pending events due in the set of events, and wakes who delivers. What comes while a call is under way goes
 * with the next one, all at once.
 */
export class Announcer {
  readonly #queue: EventQueue;
  readonly #log: Log;
  readonly #clock: Pick<Clock, 'sleep'>;
  #gathered: Gathered | null = null;
  #busy = false;

  constructor(queue: EventQueue, log: Log, clock: Pick<Clock, 'sleep'>) {
    this.#queue = queue;
    this.#log = log;
    this.#clock = clock;
  }

  /** Resolves once the job is due there, or that has failed: the sweep makes up for it. At once when no event is pending. Never rejects. */
  async announce(job: Pick<Job, 'id' | 'events'>): Promise<void> {
    if (pendingEvents(job).length === 0) return;
    this.#gathered ??= nothingGathered();
    const { jobs, told } = this.#gathered;
    if (jobs.size >= gatheredMax && !jobs.has(job.id)) return this.#failed([job.id], 'Too many wait already.');
    jobs.set(job.id, hasOlderNews(job));
    if (!this.#busy) void this.#work();
    return told;
  }

  async #work(): Promise<void> {
    this.#busy = true;
    // What is announced in the same turn goes along.
    await null;
    for (let next = this.#gathered; next !== null; next = this.#gathered) {
      this.#gathered = null;
      const said = await this.#schedule(next.jobs);
      // Who announces may end right after: it waits for the call that wakes, and for the second one, the next ones do not.
      void this.#follow(said).finally(next.settle);
    }
    this.#busy = false;
  }

  async #follow({ wake, again }: Said): Promise<void> {
    if (wake) await this.#queue.waker.wake();
    if (again.length === 0) return;
    await this.#clock.sleep(againMs);
    const { wake: wakeNow } = await this.#schedule(new Map(again.map((id) => [id, false])), 'last');
    if (wakeNow) await this.#queue.waker.wake();
  }

  async #schedule(jobs: ReadonlyMap<string, boolean>, turn?: 'last'): Promise<Said> {
    const ids = [...jobs.keys()];
    try {
      // One whose last news is only just out may be there for another look, seconds later.
      const entries = ids.map((id) => ({ id, delayMs: 0 }));
      const { added, wake } = await this.#queue.dueSet.schedule(entries, 'pull');
      const isNew = added === ids.length;
      return { wake, again: isNew ? [] : ids.filter((id) => jobs.get(id) === true) };
    } catch (error) {
      const code = error instanceof DueSetError ? error.code : 'unexpected';
      // The plan is used up: a second call would only add to that.
      if (turn !== 'last' && code !== 'limit') return { wake: false, again: ids };
      this.#failed(ids, messageOf(error), code);
      return { wake: false, again: [] };
    }
  }

  #failed(ids: readonly string[], error: string, code = 'full'): void {
    this.#log.warn('event_not_announced', { jobId: ids[0] ?? '', jobs: ids.length, code, error });
  }
}

/** Not only what nobody listened to. */
function hasOlderNews({ events }: Pick<Job, 'events'>): boolean {
  return events.slice(0, -1).some(({ pending, deliveries }) => pending === true || deliveries !== undefined);
}

function nothingGathered(): Gathered {
  let settle = () => {};
  const told = new Promise<void>((resolve) => {
    settle = resolve;
  });
  return { jobs: new Map(), told, settle };
}
