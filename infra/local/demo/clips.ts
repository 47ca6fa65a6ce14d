import type { ApiClient, ApiJob, ClipRequest } from './api-client.ts';

const prompts = [
  'A paper boat rides a gutter stream after rain, low angle, macro',
  'Fog lifts from a pine valley at dawn, slow drone push-in',
  'An old tram climbs a steep street, golden hour, film grain',
  'A potter centres clay on a wheel, close on the hands',
  'Neon signs reflected in a puddle, a cyclist passes through',
  'A lighthouse beam sweeps over a stormy sea, long exposure look',
  'A cat watches snow from a window sill, shallow focus',
  'Time-lapse of a market square filling up in the morning',
];

/** The n-th demo clip, 4 to 10 seconds long. */
export function demoClip(number: number): ClipRequest {
  const prompt = prompts[number % prompts.length] as string;
  const duration = 4 + ((number * 3) % 7);
  return {
    input: { model: 'seedance-2-mini', prompt: `${prompt}, take ${number + 1}`, duration, resolution: '720p' },
    metadata: { demo: 'npm start', clip: String(number + 1) },
  };
}

/** What the provider asks for these clips, in US dollars: $1.89 for ten seconds of seedance-2-mini at 720p. */
export function demoPriceUsd(jobs: number): number {
  return Array.from({ length: jobs }, (_, number) => demoClip(number).input.duration * 0.189).reduce(
    (a, b) => a + b,
    0,
  );
}

export interface SubmitDemoOptions {
  client: Pick<ApiClient, 'submit'>;
  jobs: number;
  /** Different in every run, so that each run's clips are new jobs. */
  runId: string;
  onAccepted: (job: ApiJob) => void;
  /** Submits under way at once. Default 4. */
  concurrency?: number;
}

/** Sends the demo clips through the HTTP API. Rejects with the first that could not be sent; the others under way still count. */
export async function submitDemo(options: SubmitDemoOptions): Promise<void> {
  const { client, jobs, runId, onAccepted, concurrency = 4 } = options;
  let next = 0;
  let failed = false;
  const worker = async () => {
    while (next < jobs && !failed) {
      const number = next++;
      try {
        onAccepted(await client.submit(`demo-${runId}-${number + 1}`, demoClip(number)));
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  const ends = await Promise.allSettled(Array.from({ length: Math.min(concurrency, jobs) }, worker));
  const rejected = ends.find((end) => end.status === 'rejected');
  if (rejected !== undefined) throw rejected.reason;
}
