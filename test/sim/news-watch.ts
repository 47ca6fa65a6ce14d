import { pendingEvents } from '../../lib/event.ts';
import { deliveryIdFor, eventIdFor } from '../../lib/identify.ts';
import type { Job } from '../../lib/job.ts';
import type { Delivery } from '../../lib/webhooks/delivery.ts';
import { listenersOf } from './audience.ts';
import type { Lambda } from './lambda.ts';
import type { Referee } from './referee.ts';

type JobEvent = Job['events'][number];

/** All but those that are told of nobody. */
const untoldStates: readonly Job['state'][] = ['waiting', 'submitting', 'queued'];
/** A sweep's period, the time that one may take, and what deliver needs from there. */
const untilMadeOutMs = 300_000 + 120_000 + 90_000;

export interface NewsWatchPorts {
  referee: Referee;
  trueMs: () => number;
  jobs: () => ReadonlyMap<string, Job>;
  deliveries: () => ReadonlyMap<string, Delivery>;
  /** When the active job is looked at next, true time in ms; null when its set does not hold it. */
  dueAtMs: (id: string) => number | null;
}

/** Sees that what is told of a job is in its record once, together with the state, and goes to each who listens, once. */
export class NewsWatch {
  readonly #ports: NewsWatchPorts;
  /** By event that somebody listens to, while it is pending. True time, ms. */
  readonly #pending = new Map<string, { jobId: string; sinceMs: number }>();
  /** Owners whose endpoints a process could not read. */
  readonly #unread = new Map<Lambda, Set<string>>();
  readonly #late = new Set<string>();
  #calmSinceMs = Number.POSITIVE_INFINITY;

  constructor(ports: NewsWatchPorts) {
    this.#ports = ports;
  }

  calm(): void {
    this.#calmSinceMs = this.#ports.trueMs();
  }

  get pendingJobs(): Set<string> {
    return new Set([...this.#pending.values()].map(({ jobId }) => jobId));
  }

  /** The process does not know who listens to this owner, and has to take it that somebody does. */
  unread(by: Lambda, owner: string): void {
    this.#unread.set(by, (this.#unread.get(by) ?? new Set()).add(owner));
  }

  /** A record was written. */
  changed(by: Lambda, before: Job, after: Job): void {
    for (const [place, event] of before.events.entries()) this.#checkKept(by, after, event, after.events[place]);
    const added = after.events.slice(before.events.length);
    if (added.map(({ type }) => type).join() !== newlyTold(before, after).join()) {
      this.#broken(togetherWith, `${after.id}: ${after.events.map(({ type }) => type)}, and is ${after.state}`);
    }
    for (const event of added) this.#checkAdded(by, after, event);
    if (by.kind === 'deliver') this.#checkNoted(before, after);
  }

  /** A delivery was written that was not there. */
  made(delivery: Delivery): void {
    const { eventId, endpointId, subjectId, body, id } = delivery;
    const job = this.#ports.jobs().get(subjectId);
    const event = job?.events.find((one) => one.id === eventId);
    if (job === undefined || event === undefined) {
      this.#broken(onlyEvents, `${id} of ${subjectId}`);
      return;
    }
    this.#ports.referee.saw('delivery');
    if (!listenersOf(job, event.type).includes(endpointId)) this.#broken(nobody, `${event.type} of ${job.id}`);
    const others = [...this.#ports.deliveries().values()].filter((other) => other.id !== id);
    if (others.some((other) => other.eventId === eventId && other.endpointId === endpointId)) {
      this.#broken(onceEach, `${event.type} of ${job.id} to ${endpointId}`);
    }
    const { type, data } = JSON.parse(body) as { type: string; data: { id: string; state: string } };
    const tells = type === event.type && data.id === job.id && `job.${data.state}` === type;
    if (!tells) this.#broken('a delivery tells of its event', `${type}, ${data.id} is ${data.state}`);
  }

  /** At any moment. */
  check(): void {
    const nowMs = this.#ports.trueMs();
    for (const [id, { jobId, sinceMs }] of this.#pending) {
      if (nowMs <= Math.max(sinceMs, this.#calmSinceMs) + untilMadeOutMs) continue;
      const dueAtMs = this.#ports.dueAtMs(jobId);
      if (dueAtMs === null || nowMs > dueAtMs + untilMadeOutMs) this.#broken(inTime, `${id} of ${jobId}`);
      else if (!this.#late.has(id)) this.#ports.referee.excuse('unannounced', `${id} of ${jobId}`);
      this.#late.add(id);
    }
  }

  #checkKept(by: Lambda, job: Job, before: JobEvent, after: JobEvent | undefined): void {
    const { id } = job;
    const told = ({ id, type, atMs }: JobEvent) => `${id} ${type} ${atMs}`;
    if (after === undefined || told(before) !== told(after)) {
      this.#broken(inOrder, `${id}: ${told(before)} became ${after && told(after)}`);
      return;
    }
    if (before.pending === after.pending && String(before.deliveries) === String(after.deliveries)) return;
    const isOff = before.pending === true && after.pending === undefined;
    // One that was pending in doubt may be taken back by whoever knows better.
    const isUnheard = after.deliveries === undefined && listenersOf(job, before.type).length === 0;
    if (!isOff || !(isUnheard || by.kind === 'deliver'))
      this.#broken('an event is made out by who delivers, and stays so', `${before.type} of ${id}`);
  }

  #checkAdded(by: Lambda, after: Job, event: JobEvent): void {
    if (event.id !== eventIdFor(after.id, event.type)) this.#broken(inOrder, `${event.type} of ${after.id}`);
    const isHeard = listenersOf(after, event.type).length > 0;
    if (isHeard) this.#pending.set(event.id, { jobId: after.id, sinceMs: this.#ports.trueMs() });
    if (isHeard === (event.pending === true)) return;
    const detail = `${event.type} of ${after.id} by ${by.name}`;
    if (isHeard) this.#broken('an event that somebody listens to is pending', detail);
    else if (this.#unread.get(by)?.has(after.owner)) this.#ports.referee.excuse('inDoubt', detail);
    else this.#broken(nobody, detail);
  }

  /** Whoever delivers writes down what is made out, and nothing else. */
  #checkNoted(before: Job, after: Job): void {
    const rest = ({ events: _, revision: __, ...job }: Job) => JSON.stringify(job, Object.keys(job).sort());
    if (rest(before) !== rest(after)) this.#broken('who delivers leaves the job as it is', after.id);
    const stillPending = new Set(pendingEvents(after).map(({ id }) => id));
    const noted = pendingEvents(before).filter(({ id }) => !stillPending.has(id));
    if (noted.length === 0) this.#broken(nobody, `${after.id} was written for no event`);
    for (const { id, type } of noted) {
      const wanted = listenersOf(after, type).map((endpoint) => deliveryIdFor(id, endpoint));
      const told = after.events.find((event) => event.id === id)?.deliveries ?? [];
      const isMade = wanted.every((delivery) => this.#ports.deliveries().has(delivery));
      if (!isMade || [...wanted].sort().join() !== [...told].sort().join())
        this.#broken(onceEach, `${type} of ${after.id}`);
      this.#pending.delete(id);
    }
  }

  #broken(invariant: string, detail: string): void {
    this.#ports.referee.broken(invariant, detail);
  }
}

const inOrder = 'one event for each told state of a job, and it never changes';
const togetherWith = 'no state is told without its event in the very same write';
const nobody = 'what nobody listens to is not made out, and costs no write';
const onlyEvents = 'only an event that is in the record is made out';
const onceEach = 'an event is made out once for each that listens';
const inTime = 'every event is made out within a sweep’s period';

/** The types of the events that the write must have brought: its states, as far as they are told and for the first time. */
function newlyTold(before: Job, after: Job): string[] {
  const known = new Set<string>(before.events.map(({ type }) => type));
  const entered = after.history.slice(before.history.length).filter(({ state }) => !untoldStates.includes(state));
  return entered.map(({ state }) => `job.${state}`).filter((type) => !known.has(type));
}
