import { createHash } from 'node:crypto';
import { Refusal } from '../api/answer.ts';
import { commonHeaders, type Exchange } from '../api/exchange.ts';
import { readByteRange } from './byte-range.ts';
import { clipFile } from './clip-file.ts';
import { checkMediaQuery } from './media-url.ts';

/** GET and HEAD of a clip, whole or one range of it. Needs no key but an address signed for this job. Throws a Refusal. */
export function serveMedia(exchange: Exchange): void {
  const { simulator, request, response, jobId, query } = exchange;
  const verdict = checkMediaQuery(simulator.world.seed, jobId, new URLSearchParams(query), simulator.settings.nowMs());
  if (verdict === 'forged') throw new Refusal(403, 'invalid_signature', 'This media address was not signed by us.');
  if (verdict === 'expired')
    throw new Refusal(403, 'media_url_expired', 'This media address has expired; get the result again.');
  const job = simulator.world.jobs.get(jobId);
  if (job === undefined) throw new Refusal(404, 'media_not_found', 'No such clip.');

  const digest = createHash('sha256').update(jobId).digest();
  const shade = (index: number) => 64 + (digest[index] ?? 0) / 2;
  const file = clipFile(job.durationSeconds, { y: shade(0), cb: shade(1), cr: shade(2) });
  const range = readByteRange(request.headers.range, file.length);
  if (range === 'unsatisfiable') {
    throw new Refusal(416, 'range_not_satisfiable', 'The clip is shorter than that.', {}, [
      'Content-Range',
      `bytes */${file.length}`,
    ]);
  }
  const part = range === 'whole' ? file : file.subarray(range.first, range.last + 1);
  const headers = [
    ...commonHeaders(exchange),
    'Content-Type',
    'video/mp4',
    'Content-Length',
    String(part.length),
    'Accept-Ranges',
    'bytes',
    'ETag',
    `"${digest.toString('hex', 0, 8)}"`,
    'Cache-Control',
    'private, max-age=60',
  ];
  if (range !== 'whole') headers.push('Content-Range', `bytes ${range.first}-${range.last}/${file.length}`);
  response.writeHead(range === 'whole' ? 200 : 206, headers).end(request.method === 'HEAD' ? undefined : part);
}
