/** Submits jobs through the packaged API function, called as API Gateway would; says `ready` when all are accepted. */
import { createHash } from 'node:crypto';
import type { Ready } from '../../support/node-process.ts';

type Handler = (event: object, context: object) => Promise<{ statusCode: number; body?: string }>;

process.on('disconnect', () => process.exit(0));
process.env.API_TOKENS = JSON.stringify([
  { owner: 'bench', sha256: createHash('sha256').update('bench').digest('hex') },
]);
// Nobody is there to be woken: the drain is started by hand afterwards.
process.env.LAMBDA_ENDPOINT = 'http://127.0.0.1:9';
const { handler } = (await import(process.env.API_BUNDLE ?? '')) as { handler: Handler };

for (let job = 0; job < Number(process.env.JOBS); job++) {
  const { statusCode, body } = await handler(submitEvent(job), {});
  if (statusCode !== 202) throw new Error(`The API answered a submit with ${statusCode}: ${body?.slice(0, 200)}`);
}
process.send?.({ kind: 'ready' } satisfies Ready);

/** An event of an HTTP API, payload version 2.0, as it is after the authorizer. */
function submitEvent(job: number): object {
  const input = { model: 'seedance-2-mini', prompt: `lighthouse ${job}`, duration: 8, resolution: '720p' };
  return {
    version: '2.0',
    routeKey: '$default',
    rawPath: '/v1/jobs',
    rawQueryString: '',
    headers: {
      'content-type': 'application/json',
      'idempotency-key': `life-${process.pid}-${job}`,
      host: 'bench.local',
    },
    requestContext: {
      http: { method: 'POST', path: '/v1/jobs', protocol: 'HTTP/1.1', sourceIp: '127.0.0.1', userAgent: 'bench' },
      domainName: 'bench.local',
      stage: '$default',
      requestId: `life-${job}`,
      authorizer: { lambda: { owner: 'bench' } },
    },
    body: JSON.stringify({ input }),
    isBase64Encoded: false,
  };
}
