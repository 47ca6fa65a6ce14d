import { pendingEvents } from '../../lib/event.ts';
import type { Job } from '../../lib/job.ts';
import type { News } from '../../lib/news.ts';
import type { NotesPorts } from '../../lib/run-notes.ts';
import type { StepPorts } from '../../lib/step.ts';
import { MemoryRenderTimes } from './memory-render-times.ts';

/** Nobody listens. */
export const noNews: News = {
  address: (job) => (pendingEvents(job).length === 0 ? job : { ...job, events: job.events.map(unlistened) }),
  announce: async () => {},
};

function unlistened({ pending: _, ...event }: Job['events'][number]): Job['events'][number] {
  return event;
}

/** For tests that are about none of money, render times and events. */
export function memoryNotes(): Pick<NotesPorts, 'ledger' | 'renderTimes'> & { news: News } {
  return { ledger: { add: async () => {} }, renderTimes: new MemoryRenderTimes(), news: noNews };
}

/** A step's notes that change nothing. */
export const noNotes: StepPorts['notes'] = {
  asSent: (job) => job,
  firstReadAt: async (_, dueAtMs) => dueAtMs,
  nextReadAt: (_, dueAtMs) => dueAtMs,
  seenRunning: () => {},
  ended: () => {},
};
