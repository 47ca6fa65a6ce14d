import type { RestorePorts } from '../../lib/account-pause.ts';

/** For sweeps of accounts that were never paused over the API: nothing is asked of the view then. */
export const noPauses: RestorePorts = {
  pauses: { read: async () => null },
  view: {
    overview: () => Promise.reject(new Error('No account was paused.')),
    setPaused: () => Promise.reject(new Error('No account was paused.')),
  },
};
