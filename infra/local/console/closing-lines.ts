import { jobIdFor } from '../../../lib/identify.ts';
import type { Follower } from '../demo/follow.ts';
import type { Figures } from '../demo/measure.ts';
import { localOwner } from '../stack/local-keys.ts';

const exampleKey = 'lighthouse-1';
const exampleBody =
  '{"input":{"model":"seedance-2-mini","prompt":"a lighthouse at dusk","duration":8,"resolution":"720p"}}';

/** Commands that can be pasted into a shell, one after the other. The job's id follows from owner and key, so it is known. */
export function tryLines(url: string, token: string): string[] {
  const bearer = '-H "Authorization: Bearer $TOKEN"';
  return [
    '  Try it in another terminal:',
    '',
    `  export API=${url} TOKEN=${token}`,
    `  curl -X POST "$API/v1/jobs" ${bearer} -H "Idempotency-Key: ${exampleKey}" -d '${exampleBody}'`,
    `  curl "$API/v1/jobs/${jobIdFor(localOwner, exampleKey)}" ${bearer}`,
    `  curl "$API/v1/jobs?state=completed" ${bearer}`,
  ];
}

/** The run's figures in words, for people. */
export function summaryLines(figures: Figures): string[] {
  const { submitted, completed, failed, lost } = figures;
  const unfinished = submitted - completed - failed - lost;
  const rest = [
    failed > 0 ? `${failed} failed` : '',
    lost > 0 ? `${lost} LOST` : '',
    unfinished > 0 ? `${unfinished} unfinished` : '',
  ].filter(Boolean);
  const lines = [
    `  ${[`${completed} of ${submitted} clips completed`, ...rest].join(', ')}, ${Math.floor(figures.wallSeconds)} s since the start.`,
  ];
  if (unfinished > 0) lines.push('  The next start goes on with those that are unfinished.');
  if (figures.billedClips !== null) {
    lines.push(
      `  The provider billed ${figures.billedClips} clips and ` +
        (figures.providerReads === 0 ? 'saw no read yet.' : readsText(figures)),
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

function readsText({ providerReads, earlyReads, duplicateReads, latenessMs }: Figures): string {
  const reads = `saw ${providerReads ?? '?'} reads: ${earlyReads ?? '?'} early, ${duplicateReads ?? '?'} duplicate`;
  return latenessMs === null ? `${reads}.` : `${reads}; lateness p50 ${latenessMs.p50} ms, p99 ${latenessMs.p99} ms.`;
}

/** Which jobs did not complete: the first ten by id. */
export function incompleteLine(incomplete: ReturnType<Follower['incomplete']>): string {
  const named = incomplete.slice(0, 10).map(({ id, state }) => `${id} (${state})`);
  const more = incomplete.length > named.length ? ` and ${incomplete.length - named.length} more` : '';
  return `Not completed: ${named.join(', ')}${more}.`;
}
