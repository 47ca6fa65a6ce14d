import type { Client, JobView } from './client.ts';
import type { ProviderControl } from './provider-control.ts';

/** A job as the provider has it. */
interface ProviderJob {
  id: string;
  state: string;
  endsAtMs: number | null;
  input: { prompt?: string };
}

/** What became of the accepted jobs, beside what the provider knows of them. */
export interface Truth {
  views: JobView[];
  /** Accepted ids that the API does not know. */
  absent: string[];
  active: string[];
  terminal: Record<string, number>;
  wrong: string[];
  /** Jobs with more than one clip. */
  twice: string[];
}

const activeStates = ['waiting', 'submitting', 'queued', 'processing', 'overdue'];
const viewsAtATime = 8;

export function isActiveState(state: string): boolean {
  return activeStates.includes(state);
}

export async function providerJobs(control: ProviderControl): Promise<ProviderJob[]> {
  return (await control.get<{ jobs: ProviderJob[] }>('jobs')).jobs;
}

/** Reads every accepted job from the API and compares it with the provider's. */
export async function findTruth(client: Client, control: ProviderControl): Promise<Truth> {
  const ids = [...client.accepted.values()];
  const views: JobView[] = [];
  const absent: string[] = [];
  const readNext = async (): Promise<void> => {
    for (let id = ids.pop(); id !== undefined; id = ids.pop()) {
      const view = await client.view(id);
      if (view === null) absent.push(id);
      else views.push(view);
    }
  };
  await Promise.all(Array.from({ length: viewsAtATime }, readNext));
  const clips = await providerJobs(control);
  const terminal: Record<string, number> = {};
  for (const { state } of views) if (!isActiveState(state)) terminal[state] = (terminal[state] ?? 0) + 1;
  return {
    views,
    absent,
    terminal,
    active: views.filter(({ state }) => isActiveState(state)).map(({ id }) => id),
    wrong: views.filter((view) => !isRight(view, clips)).map(({ id, state }) => `${id} (${state})`),
    twice: twiceRendered(clips),
  };
}

/** Ended as the provider says, for the clip that was asked for, and never completed without a result. */
function isRight(view: JobView, clips: readonly ProviderJob[]): boolean {
  const clip = clips.find(({ id }) => id === view.provider.job_id);
  if (clip === undefined || clip.input.prompt !== `lighthouse ${view.metadata.job}`) return false;
  return clip.state === view.state && (view.state !== 'completed' || view.result !== null);
}

function twiceRendered(clips: readonly ProviderJob[]): string[] {
  const prompts = clips.map(({ input }) => String(input.prompt));
  return [...new Set(prompts.filter((prompt, index) => prompts.indexOf(prompt) !== index))];
}
