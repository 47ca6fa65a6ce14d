import type * as Api from './answers.ts';
import { PollkeeperError } from './error.ts';
import { segment } from './segment.ts';
import type { Call, Transport } from './transport.ts';

interface CallOptions {
  signal?: AbortSignal;
}

/** Where events of all the owner's jobs go. What changes them needs a token with the scope `admin`. */
export interface EndpointCalls {
  list(options?: CallOptions): Promise<Api.Endpoint[]>;
  /** The answer has the secret to verify with. */
  create(body: Api.Body<'POST /v1/endpoints'>, options?: CallOptions): Promise<Api.NewEndpoint>;
  get(id: string, options?: CallOptions): Promise<Api.Endpoint>;
  update(id: string, body: Api.Body<'PATCH /v1/endpoints/{id}'>, options?: CallOptions): Promise<Api.Endpoint>;
  /** What is still to be sent there is not sent. No error when there is no such endpoint (any more). */
  remove(id: string, options?: CallOptions): Promise<void>;
  secret(id: string, options?: CallOptions): Promise<Api.EndpointSecret>;
  /** Both secrets sign until the old one ends, in `overlapSeconds`; a day if absent. */
  rotateSecret(id: string, options?: CallOptions & { overlapSeconds?: number }): Promise<Api.EndpointSecret>;
}

export function endpointCalls(transport: Transport): EndpointCalls {
  const send = async (method: Call['method'], path: string, call: Partial<Call> = {}) =>
    (await transport.send({ method, path: `/v1/endpoints${path}`, ...call })).body;
  return {
    list: async (call) => ((await send('GET', '', call)) as { endpoints: Api.Endpoint[] }).endpoints,
    create: async (body, call) => (await send('POST', '', { body, once: true, ...call })) as Api.NewEndpoint,
    get: async (id, call) => (await send('GET', `/${segment(id)}`, call)) as Api.Endpoint,
    update: async (id, body, call) => (await send('PATCH', `/${segment(id)}`, { body, ...call })) as Api.Endpoint,
    async remove(id, call) {
      // The answer to the request that removed it may have been lost.
      await send('DELETE', `/${segment(id)}`, call).catch((error: unknown) => {
        if (!(error instanceof PollkeeperError) || error.status !== 404) throw error;
      });
    },
    secret: async (id, call) => (await send('GET', `/${segment(id)}/secret`, call)) as Api.EndpointSecret,
    async rotateSecret(id, { overlapSeconds, ...call } = {}) {
      const body = overlapSeconds === undefined ? {} : { overlap_seconds: overlapSeconds };
      // Sent twice it would push out the secret that is still in use.
      return (await send('POST', `/${segment(id)}/rotate-secret`, { body, once: true, ...call })) as Api.EndpointSecret;
    },
  };
}
