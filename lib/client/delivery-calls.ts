import type * as Api from './answers.ts';
import { type PageOptions, walkPages } from './pages.ts';
import { segment } from './segment.ts';
import type { Transport } from './transport.ts';

interface CallOptions {
  signal?: AbortSignal;
}

export interface DeliveryCalls {
  /** Of one job's events, with the log of their attempts. */
  deliveries(jobId: string, options?: CallOptions): Promise<Api.Delivery[]>;
  /** Those whose every attempt failed. */
  deadDeliveries(options?: PageOptions): AsyncGenerator<Api.Delivery, void, undefined>;
  /** Those that still wait for an endpoint. */
  pendingDeliveries(endpointId: string, options?: PageOptions): AsyncGenerator<Api.Delivery, void, undefined>;
  /** Sends again, with the same event ids: all of a job (`job_…`), or one delivery (`dlv_…`). */
  redeliver(id: string, options?: CallOptions): Promise<Api.Delivery[]>;
}

export function deliveryCalls(transport: Transport): DeliveryCalls {
  return {
    async deliveries(jobId, call = {}) {
      const path = `/v1/jobs/${segment(jobId)}/deliveries`;
      const { body } = await transport.send({ method: 'GET', path, ...call });
      return (body as { deliveries: Api.Delivery[] }).deliveries;
    },
    deadDeliveries: (page = {}) => walkPages(transport, '/v1/deliveries', 'deliveries', { state: 'dead' }, page),
    pendingDeliveries: (endpointId, page = {}) =>
      walkPages(transport, '/v1/deliveries', 'deliveries', { endpoint_id: endpointId }, page),
    async redeliver(id, call = {}) {
      const path = `/v1/${id.startsWith('dlv_') ? 'deliveries' : 'jobs'}/${segment(id)}/redeliver`;
      const { body } = await transport.send({ method: 'POST', path, ...call });
      const answer = body as Api.Delivery | { deliveries: Api.Delivery[] };
      return 'deliveries' in answer ? answer.deliveries : [answer];
    },
  };
}
