/** What a request is about. `media` is the clip itself, which needs no key but a signed address. */
export const ROUTE_KINDS = [
  'create',
  'list',
  'job',
  'status',
  'result',
  'events',
  'cancel',
  'balance',
  'usage',
  'me',
  'health',
  'media',
] as const;
export type RouteKind = (typeof ROUTE_KINDS)[number];

export type Route = { found: true; kind: RouteKind; jobId: string } | { found: false; allow: string | undefined };

const FIXED: Readonly<Record<string, RouteKind>> = {
  'GET /jobs': 'list',
  'POST /videos': 'create',
  'GET /balance': 'balance',
  'GET /usage': 'usage',
  'GET /me': 'me',
  'GET /health': 'health',
};
const OF_JOB: Readonly<Record<string, RouteKind>> = {
  'GET ': 'job',
  'GET /status': 'status',
  'GET /result': 'result',
  'GET /events': 'events',
  'POST /cancel': 'cancel',
};
const METHODS = ['GET', 'POST'];
const JOBS = '/jobs/';
const MEDIA = '/media/';

/** Finds the route of a path without its query. A leading `/v1` is optional, because some clients keep it in their base address and some do not. */
export function findRoute(method: string, path: string): Route {
  const bare = path === '/v1' || path.startsWith('/v1/') ? path.slice(3) : path;
  if (bare.startsWith(JOBS)) return findJobRoute(method, bare.slice(JOBS.length));
  if (bare.startsWith(MEDIA)) return findMediaRoute(method, bare.slice(MEDIA.length));
  const kind = FIXED[`${method} ${bare}`];
  if (kind !== undefined) return { found: true, kind, jobId: '' };
  return { found: false, allow: allowed(FIXED, bare) };
}

function findJobRoute(method: string, rest: string): Route {
  const slash = rest.indexOf('/');
  const tail = slash < 0 ? '' : rest.slice(slash);
  const jobId = decode(slash < 0 ? rest : rest.slice(0, slash));
  const kind = OF_JOB[`${method} ${tail}`];
  if (kind !== undefined && jobId !== '') return { found: true, kind, jobId };
  return { found: false, allow: jobId === '' ? undefined : allowed(OF_JOB, tail) };
}

function findMediaRoute(method: string, rest: string): Route {
  const [jobId, file, more] = rest.split('/');
  if (jobId === undefined || file !== 'video.mp4' || more !== undefined) return { found: false, allow: undefined };
  if (method !== 'GET' && method !== 'HEAD') return { found: false, allow: 'GET, HEAD' };
  return { found: true, kind: 'media', jobId: decode(jobId) };
}

function allowed(table: Readonly<Record<string, RouteKind>>, path: string): string | undefined {
  const methods = METHODS.filter((method) => table[`${method} ${path}`] !== undefined);
  return methods.length > 0 ? methods.join(', ') : undefined;
}

/** An id that cannot be decoded is no job's id; it stays as it came and is not found. */
function decode(part: string): string {
  if (!part.includes('%')) return part;
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
