import {
  type Bins,
  noRenderTimes,
  type RenderSamples,
  type RenderTimes,
  type RenderTimesStore,
  turned,
} from '../../lib/render-times.ts';

/** Render times in memory. Passes the contract of the DynamoDB ones. */
export class MemoryRenderTimes implements RenderTimesStore {
  readonly all = new Map<string, RenderTimes>();

  async get(kind: string): Promise<RenderTimes | null> {
    return this.all.get(kind) ?? null;
  }

  async add(kind: string, samples: RenderSamples): Promise<void> {
    const times = added(this.all.get(kind) ?? noRenderTimes, samples);
    this.all.set(kind, turned(times) ?? times);
  }
}

/** As the store has it after one addition, before any turn. */
export function added(times: RenderTimes, { seen, found, delayed, late, atMs }: RenderSamples): RenderTimes {
  const { current } = times;
  return {
    ...times,
    current: {
      seen: sum(current.seen, seen),
      found: sum(current.found, found),
      firstAtMs: current.firstAtMs ?? atMs?.first ?? null,
    },
    lastAtMs: atMs?.last ?? times.lastAtMs,
    delayed: times.delayed + delayed,
    late: times.late + late,
  };
}

function sum(bins: Bins, more: Bins): Bins {
  return bins.map((count, bin) => count + (more[bin] ?? 0));
}
