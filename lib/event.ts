import { eventIdFor } from './identify.ts';
import type { JobState } from './job.ts';

/*
 * What the world is told of a job: one event for each of these states that it reaches. It is part of the record and is
 * written together with the state, so that nobody can make a second one; its id follows from the job and the state.
 */

const toldStates = [
  'processing',
  'overdue',
  'completed',
  'failed',
  'canceled',
  'expired',
  'rejected',
  'lost',
  'given_up',
] as const satisfies readonly JobState[];

export type JobEventType = `job.${(typeof toldStates)[number]}`;
export type EventType = JobEventType | 'batch.completed';

export const eventTypes: readonly EventType[] = [
  ...toldStates.map((state): JobEventType => `job.${state}`),
  'batch.completed',
];

/** Those that are sent to whoever has not chosen: all but the one that most jobs have on their way. */
export const usualEventTypes: readonly EventType[] = eventTypes.filter((type) => type !== 'job.processing');

export interface JobEvent {
  /** `evt_` + 32 base32 characters. */
  id: string;
  type: JobEventType;
  atMs: number;
  /** There until its deliveries have been made out. While it is, the job stays in the index of active ones. */
  pending?: true;
  /** Ids of its deliveries, once they have been made out. */
  deliveries?: string[];
}

/** The job's events after it has entered `state`: one more, unless the state is told of nobody or was reached before. */
export function withEvent(job: { id: string; events: readonly JobEvent[] }, state: JobState, atMs: number): JobEvent[] {
  const told = toldStates.find((name) => name === state);
  if (told === undefined) return [...job.events];
  const type: JobEventType = `job.${told}`;
  if (job.events.some((event) => event.type === type)) return [...job.events];
  return [...job.events, { id: eventIdFor(job.id, type), type, atMs, pending: true }];
}

/** The state that an event of this type tells of. */
export function stateToldBy(type: JobEventType): JobState {
  return type.slice('job.'.length) as JobState;
}

/** Those whose deliveries are still to be made out. */
export function pendingEvents({ events }: { events: readonly JobEvent[] }): JobEvent[] {
  return events.filter(({ pending }) => pending === true);
}
