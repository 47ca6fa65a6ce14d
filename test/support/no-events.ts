import type { SweepPorts } from '../../lib/sweep.ts';

/** For sweeps where nothing is to be told. */
export const noEvents: Pick<SweepPorts, 'events' | 'deliveries'> = {
  events: {
    dueSet: { schedule: async () => ({ added: 0, wake: false }), absent: async () => [] },
    waker: { wake: async () => {} },
  },
  deliveries: { pendingIds: async () => ({ ids: [], next: null }) },
};
