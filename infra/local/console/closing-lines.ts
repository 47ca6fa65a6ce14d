import type { Follower } from './follow.ts';
import type { Figures } from './measure.ts';

/** Three commands that can be pasted into a shell. */
export function tryLines(url: string, token: string, exampleId: string | undefined): string[] {
  const bearer = `-H 'Authorization: Bearer ${token}'`;
  const body = '{"input":{"model":"seedance-2-mini","prompt":"A kite over dunes","duration":5,"resolution":"720p"}}';
  return [
    `  API    ${url}`,
    `  Token  ${token}`,
    '',
    '  Try it in another terminal:',
    `  curl -X POST ${url}/v1/jobs ${bearer} -H 'Content-Type: application/json' -H 'Idempotency-Key: my-first-clip' -d '${body}'`,
    `  curl ${bearer} ${url}/v1/jobs/${exampleId ?? '<id from the answer>'}`,
    `  curl ${bearer} '${url}/v1/jobs?limit=10'`,
  ];
}

/** The run's figures in words, for people. */
export function summaryLines(figures: Figures): string[] {
  const { submitted, completed, failed, lost, latenessMs } = figures;
  const rest = [failed > 0 ? `${failed} failed` : '', lost > 0 ? `${lost} LOST` : ''].filter(Boolean).join(', ');
  const lines = [
    `  ${completed} of ${submitted} clips completed${rest && `, ${rest}`}, ${Math.round(figures.wallSeconds)} s since the start.`,
  ];
  if (figures.billedClips !== null) {
    lines.push(
      `  The provider billed ${figures.billedClips} clips and saw ${figures.providerReads ?? '?'} reads: ` +
        `${figures.earlyReads ?? '?'} early, ${figures.duplicateReads ?? '?'} duplicate` +
        (latenessMs === null ? '.' : `; lateness p50 ${latenessMs.p50} ms, p99 ${latenessMs.p99} ms.`),
    );
  }
  const costs = [
    figures.redisCommands === null ? '' : `${figures.redisCommands} Redis commands`,
    figures.redisRoundTrips === null ? '' : `${figures.redisRoundTrips} round trips to Redis`,
    figures.dynamoWrites === null ? '' : `${figures.dynamoWrites} DynamoDB writes`,
  ].filter(Boolean);
  if (costs.length > 0) lines.push(`  Spent: ${costs.join(', ')}.`);
  return lines;
}

/** Which jobs did not complete: the first ten by id. */
export function incompleteLine(incomplete: ReturnType<Follower['incomplete']>): string {
  const named = incomplete.slice(0, 10).map(({ id, state }) => `${id} (${state})`);
  const more = incomplete.length > named.length ? ` and ${incomplete.length - named.length} more` : '';
  return `Not completed: ${named.join(', ')}${more}.`;
}
