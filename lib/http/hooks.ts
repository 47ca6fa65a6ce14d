import { Hono } from 'hono';
import { receiveHook } from '../hooks/receive-hook.ts';
import type { ApiEnv, ApiPorts } from './app.ts';
import { refuseOtherMethods } from './other-methods.ts';
import { Problem } from './problem.ts';
import { tooLarge } from './read-body.ts';

const bodyBytesMax = 256 * 1024;

/** Where the provider tells of ends. It takes no token: the provider's signature is all that is looked at. */
export function hookRoutes(ports: ApiPorts): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();

  routes.post('/sume', async (context) => {
    // The bytes as they came: they are what was signed.
    const body = new Uint8Array(await context.req.arrayBuffer());
    if (body.length > bodyBytesMax) throw tooLarge(bodyBytesMax);
    const verdict =
      ports.hooks === undefined
        ? 'refused'
        : await receiveHook({ ...ports, ...ports.hooks }, ports.hooks.secrets, {
            body,
            jobId: context.req.query('job'),
            eventId: context.req.header('x-sume-event-id'),
            timestamp: context.req.header('x-sume-timestamp'),
            signature: context.req.header('x-sume-signature'),
          });
    // One answer for whatever is wrong with it, and one for whatever came of it: whoever calls learns nothing of jobs.
    if (verdict === 'refused') {
      const detail = 'This takes what the provider sends, signed with the signing secret of an account.';
      throw new Problem(401, 'signature_invalid', detail, 'X-Sume-Signature');
    }
    return context.json({ accepted: true }, 202);
  });

  refuseOtherMethods(routes, { '/sume': 'POST' });

  return routes;
}
