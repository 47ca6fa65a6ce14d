import { messageOf } from '../errors.ts';
import { type JobEvent, pendingEvents, stateToldBy } from '../event.ts';
import type { Audience, EndpointStore } from '../event-ports.ts';
import { isActive, type Job } from '../job.ts';
import type { Log } from '../log.ts';
import type { Clock } from '../ports.ts';
import { type Endpoint, hears } from './endpoint.ts';
import { wantsEvent } from './wants-event.ts';

export interface AudiencePorts {
  endpoints: Pick<EndpointStore, 'list'>;
  clock: Pick<Clock, 'monotonicMs'>;
  log: Log;
}

/** An endpoint that is registered hears of what happens at the latest after this. */
const knownForMs = 60_000;
/** After a failed look somebody is taken to listen for so long. */
const unknownForMs = 1_000;
const ownersMax = 10_000;

/** Null: not known. */
type Registered = readonly Pick<Endpoint, 'events' | 'state'>[] | null;

interface Look {
  atMs: number;
  registered: Registered | Promise<Registered>;
}

/** Whether somebody is to hear of an event, by what is known of an owner's endpoints: read once a minute, and only when it matters. */
export class EndpointAudience implements Audience {
  readonly #ports: AudiencePorts;
  readonly #bus: boolean;
  /** By owner; the one looked up longest ago first. */
  readonly #looks = new Map<string, Look>();

  /** `bus`: an event bus is configured, which hears everything. */
  constructor(ports: AudiencePorts, { bus }: { bus: boolean }) {
    this.#ports = ports;
    this.#bus = bus;
  }

  address(job: Job): Job | Promise<Job> {
    const unsure = pendingEvents(job).filter((event) => !this.#isHeardAnyway(job, event));
    if (unsure.length === 0) return job;
    const registered = this.#registeredOf(job.owner);
    if (registered instanceof Promise) return registered.then((known) => told(job, unsure, known));
    return told(job, unsure, registered);
  }

  #isHeardAnyway(job: Job, event: JobEvent): boolean {
    if (this.#bus || wantsEvent(job, event.type)) return true;
    // A batch hears of the ends of its jobs, whoever listens.
    return job.batch !== undefined && !isActive(stateToldBy(event.type));
  }

  #registeredOf(owner: string): Registered | Promise<Registered> {
    const look = this.#looks.get(owner);
    const ageMs = look === undefined ? 0 : this.#ports.clock.monotonicMs() - look.atMs;
    if (look !== undefined && ageMs < (look.registered === null ? unknownForMs : knownForMs)) return look.registered;
    const next: Look = { atMs: this.#ports.clock.monotonicMs(), registered: null };
    const reading = this.#read(owner).then((registered) => {
      next.registered = registered;
      return registered;
    });
    next.registered = reading;
    this.#remember(owner, next);
    return reading;
  }

  async #read(owner: string): Promise<Registered> {
    try {
      const endpoints = await this.#ports.endpoints.list(owner, 'registered');
      return endpoints.map(({ events, state }) => ({ events, state }));
    } catch (error) {
      this.#ports.log.warn('endpoints_unread', { owner, error: messageOf(error) });
      return null;
    }
  }

  #remember(owner: string, look: Look): void {
    this.#looks.delete(owner);
    this.#looks.set(owner, look);
    if (this.#looks.size <= ownersMax) return;
    const oldest = this.#looks.keys().next();
    if (oldest.done !== true) this.#looks.delete(oldest.value);
  }
}

/** The job, those of these events no longer pending that nobody registered hears. */
function told(job: Job, unsure: readonly JobEvent[], registered: Registered): Job {
  if (registered === null) return job;
  const unheard = new Set(
    unsure.filter(({ type }) => !registered.some((endpoint) => hears(endpoint, type))).map(({ id }) => id),
  );
  return unheard.size === 0 ? job : { ...job, events: job.events.map((event) => quietIf(unheard, event)) };
}

function quietIf(unheard: ReadonlySet<string>, event: JobEvent): JobEvent {
  if (!unheard.has(event.id)) return event;
  const { pending: _, ...rest } = event;
  return rest;
}
