import { newWindow, type RateWindow } from './api/rate-limit.ts';
import type { FaultRule } from './control/faults.ts';
import type { Observations } from './control/observations.ts';
import type { Settings } from './settings.ts';
import type { Outbox } from './webhooks/outbox.ts';
import type { Workspace } from './workspace.ts';
import { type World, workspaceOf } from './world.ts';

/** All that a running simulator holds. */
export type Simulator = {
  readonly settings: Settings;
  readonly world: World;
  seen: Observations;
  rules: FaultRule[];
  /** Numbers in [0, 1), the same ones for the same seed. */
  readonly random: () => number;
  readonly tenants: Map<string, Tenant>;
  /** Status answers as they were last written, by job id: most reads find nothing changed. */
  readonly statusBodies: Map<string, { state: string; hintSeconds: number | null; body: string }>;
  /** Where media is served over HTTPS; set once that server listens. */
  secureOrigin: string | undefined;
  readonly outbox: Outbox;
};

/** Who holds an API key, as of the requests: the jobs are the workspace's, the rate limits end with the process. */
export type Tenant = { readonly workspace: Workspace; readonly reads: RateWindow[]; readonly creates: RateWindow[] };

export const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** The tenant of a key; undefined when the key is not among those accepted. */
export function tenantOf(simulator: Simulator, apiKey: string): Tenant | undefined {
  const known = simulator.tenants.get(apiKey);
  if (known !== undefined) return known;
  const { apiKeys, limits } = simulator.settings;
  if (apiKeys !== undefined && !apiKeys.has(apiKey)) return undefined;
  const tenant: Tenant = {
    workspace: workspaceOf(simulator.world, apiKey),
    reads: windows(limits.readsPerMinute, limits.readsPerDay, simulator.settings),
    creates: windows(limits.createsPerMinute, limits.createsPerDay, simulator.settings),
  };
  simulator.tenants.set(apiKey, tenant);
  return tenant;
}

/** A minute's and a day's window; none for a limit that is infinite, so that nothing is counted for nothing. */
function windows(perMinute: number, perDay: number, { timeScale, window: kind }: Settings): RateWindow[] {
  const all = [newWindow(perMinute, MINUTE_MS / timeScale, kind), newWindow(perDay, DAY_MS / timeScale, kind)];
  return all.filter((window) => Number.isFinite(window.limit));
}

/** Numbers in [0, 1) from a seed: a 32-bit mulberry generator, good enough for rolling faults and delays. */
export function seededRandom(seed: string): () => number {
  let state = [...seed].reduce(
    (hash, letter) => Math.imul(hash ^ (letter.codePointAt(0) ?? 0), 0x01000193),
    0x811c9dc5,
  );
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
