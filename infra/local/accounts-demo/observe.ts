import type { Job } from '../sume-simulator/job.ts';
import type { RunningSumeSimulator } from '../sume-simulator/start.ts';
import { workspaceIdOf } from '../sume-simulator/world.ts';
import type { SeenAccount, SeenRender } from './evidence.ts';
import { clipNameIn, type DemoAccount } from './plan.ts';

/** What the provider has seen so far, told by account. */
export async function observe(
  simulator: RunningSumeSimulator,
  accounts: readonly DemoAccount[],
): Promise<{ renders: SeenRender[]; accounts: SeenAccount[] }> {
  const response = await fetch(`${simulator.url}/__control/jobs`);
  const { jobs } = (await response.json()) as { jobs: Job[] };
  const { perJob = [], perKey = [] } = simulator.report({ detail: true });
  const toldAtMs = new Map(perJob.map(({ id, endToldAtMs }) => [id, endToldAtMs]));
  const accountOf = new Map(accounts.map(({ id, key }) => [workspaceIdOf(key), id]));
  const renders = jobs.map((job) => ({
    clip: clipNameIn(job.input),
    account: accountOf.get(job.workspace) ?? job.workspace,
    createdAtMs: job.createdAtMs,
    completed: job.state === 'completed',
    endToldAtMs: toldAtMs.get(job.id) ?? null,
  }));
  const none = { perMinuteMost: { reads: 0, creates: 0 }, seconds: [] };
  return {
    renders,
    accounts: accounts.map(({ id, key }) => {
      const seen = perKey.find(({ workspace }) => workspace === workspaceIdOf(key)) ?? none;
      return { id, perMinuteMost: seen.perMinuteMost, seconds: seen.seconds };
    }),
  };
}
