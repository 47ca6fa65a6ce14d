import { createHmac, timingSafeEqual } from 'node:crypto';

type MediaVerdict = 'valid' | 'expired' | 'forged';

/** Path and query of a job's clip, good until `expiresAtSec` (Unix seconds). */
export function signMediaPath(secret: string, jobId: string, expiresAtSec: number): string {
  const query = `expires=${expiresAtSec}&signature=${signature(secret, jobId, String(expiresAtSec))}`;
  return `/media/${jobId}/video.mp4?${query}`;
}

export function checkMediaQuery(secret: string, jobId: string, query: URLSearchParams, nowMs: number): MediaVerdict {
  const expires = query.get('expires') ?? '';
  const given = Buffer.from(query.get('signature') ?? '');
  const expected = Buffer.from(signature(secret, jobId, expires));
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return 'forged';
  return Number(expires) * 1000 > nowMs ? 'valid' : 'expired';
}

function signature(secret: string, jobId: string, expires: string): string {
  return createHmac('sha256', secret).update(`${jobId}\n${expires}`).digest('hex').slice(0, 40);
}
