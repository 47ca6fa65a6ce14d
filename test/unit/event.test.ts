import { describe, expect, it } from 'vitest';
import { eventTypes, pendingEvents, withEvent } from '../../lib/event.ts';
import { eventIdFor } from '../../lib/identify.ts';
import { enter } from '../../lib/job.ts';
import { confirmedJob, startMs } from '../support/jobs.ts';

describe('an event', () => {
  it('is made with the state that it tells of, under an id that follows from job and state', () => {
    const job = enter(confirmedJob('processing'), 'completed', startMs, 'completed');
    const [event] = job.events.slice(-1);
    expect(event).toEqual({
      id: eventIdFor(job.id, 'job.completed'),
      type: 'job.completed',
      atMs: startMs,
      pending: true,
    });
    expect(event?.id).toMatch(/^evt_[a-z2-7]{32}$/);
  });

  it('is one for a state, however often that is entered', () => {
    const once = enter(confirmedJob('queued'), 'processing', startMs);
    const again = enter(enter(once, 'queued', startMs + 1), 'processing', startMs + 2);
    expect(again.events.filter(({ type }) => type === 'job.processing')).toHaveLength(1);
    expect(again.events[0]?.atMs).toBe(startMs);
  });

  it('is made for every state that ends a job, and for none that only says where it is on its way', () => {
    const told = (['waiting', 'submitting', 'queued'] as const).map((state) =>
      withEvent({ id: 'job_x', events: [] }, state, startMs),
    );
    expect(told.flat()).toEqual([]);
    expect(eventTypes).toContain('job.given_up');
    expect(eventTypes).toContain('batch.completed');
  });

  it('counts as pending only until its deliveries are made out', () => {
    const job = enter(confirmedJob('processing'), 'failed', startMs);
    expect(pendingEvents(job).map(({ type }) => type)).toEqual(['job.failed']);
    const { pending: _, ...sent } = job.events.at(-1) ?? { pending: true };
    expect(pendingEvents({ events: [sent as (typeof job.events)[0]] })).toEqual([]);
  });
});
