import type { Outcome } from './outcome.ts';
import type { Call, Provider } from './ports.ts';

export interface ProviderWatch {
  /** The call as it is to be made: counted, and marked as lost when its lease is about to end. */
  before: (job: Parameters<Provider['create']>[0], call: Call | undefined) => Call | undefined;
  /** A create was answered on a lease that held. */
  created: (outcome: Outcome, call: Call, tookMs: number) => void;
  monotonicMs: () => number;
}

/** The provider as a drain's steps call it: somebody looks at each call before it is made, and at what creates come to. */
export function watchedProvider(provider: Provider, { before, created, monotonicMs }: ProviderWatch): Provider {
  const { cancel } = provider;
  return {
    create: async (job, call) => {
      const askedAtMs = monotonicMs();
      const outcome = await provider.create(job, before(job, call));
      if (call !== undefined && call.lost !== true) created(outcome, call, monotonicMs() - askedAtMs);
      return outcome;
    },
    read: (job, call) => provider.read(job, before(job, call)),
    ...(cancel && { cancel: (job, call) => cancel.call(provider, job, before(job, call)) }),
  };
}
