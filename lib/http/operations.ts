import type { Scope } from '../tokens.ts';

/** What a token must allow; null: the operation asks for no token. */
export interface Operation {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** As in the document: `/v1/jobs/{id}`. */
  path: string;
  scope: Scope | null;
}

/**
 * Everything that the API can be asked, by the names in its document, which is made from it. The tests hold the handlers to
 * it: their paths, methods and scopes.
 */
export const operations = {
  getHealth: { method: 'GET', path: '/health', scope: null },
  getOpenapi: { method: 'GET', path: '/openapi.json', scope: null },
  submitJob: { method: 'POST', path: '/v1/jobs', scope: 'submit' },
  listJobs: { method: 'GET', path: '/v1/jobs', scope: 'read' },
  submitBatch: { method: 'POST', path: '/v1/jobs/batch', scope: 'submit' },
  adoptJobs: { method: 'POST', path: '/v1/jobs/adopt', scope: 'submit' },
  getJob: { method: 'GET', path: '/v1/jobs/{id}', scope: 'read' },
  cancelJob: { method: 'POST', path: '/v1/jobs/{id}/cancel', scope: 'submit' },
  pollJob: { method: 'POST', path: '/v1/jobs/{id}/poll', scope: 'submit' },
  redeliverJob: { method: 'POST', path: '/v1/jobs/{id}/redeliver', scope: 'submit' },
  listJobDeliveries: { method: 'GET', path: '/v1/jobs/{id}/deliveries', scope: 'read' },
  getBatch: { method: 'GET', path: '/v1/batches/{name}', scope: 'read' },
  listEndpoints: { method: 'GET', path: '/v1/endpoints', scope: 'read' },
  createEndpoint: { method: 'POST', path: '/v1/endpoints', scope: 'admin' },
  getEndpoint: { method: 'GET', path: '/v1/endpoints/{id}', scope: 'read' },
  changeEndpoint: { method: 'PATCH', path: '/v1/endpoints/{id}', scope: 'admin' },
  removeEndpoint: { method: 'DELETE', path: '/v1/endpoints/{id}', scope: 'admin' },
  getEndpointSecret: { method: 'GET', path: '/v1/endpoints/{id}/secret', scope: 'admin' },
  rotateEndpointSecret: { method: 'POST', path: '/v1/endpoints/{id}/rotate-secret', scope: 'admin' },
  listDeliveries: { method: 'GET', path: '/v1/deliveries', scope: 'read' },
  redeliver: { method: 'POST', path: '/v1/deliveries/{id}/redeliver', scope: 'submit' },
  listAccounts: { method: 'GET', path: '/v1/accounts', scope: 'read' },
  getAccount: { method: 'GET', path: '/v1/accounts/{id}', scope: 'read' },
  pauseAccount: { method: 'POST', path: '/v1/accounts/{id}/pause', scope: 'admin' },
  drainAccount: { method: 'POST', path: '/v1/accounts/{id}/drain', scope: 'admin' },
  resumeAccount: { method: 'POST', path: '/v1/accounts/{id}/resume', scope: 'admin' },
  getStats: { method: 'GET', path: '/v1/stats', scope: 'read' },
  receiveSumeHook: { method: 'POST', path: '/v1/hooks/sume', scope: null },
} as const satisfies Record<string, Operation>;

export type OperationName = keyof typeof operations;
