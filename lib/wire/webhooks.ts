import { randomBytes } from 'node:crypto';
import type { Environment } from '../config.ts';
import type { EndpointStore } from '../event-ports.ts';
import type { ApiPorts } from '../http/app.ts';
import { checkTarget } from '../webhooks/guard.ts';
import { ensureJobEndpoint } from '../webhooks/job-endpoint.ts';
import type { CheckWebhookUrl } from '../webhooks/register.ts';
import { RememberedEndpoints } from '../webhooks/remembered-endpoints.ts';
import { dnsResolve, systemResolve } from '../webhooks/resolve.ts';
import { newSecret } from '../webhooks/sign.ts';
import { readWebhookConfig } from '../webhooks/webhook-config.ts';
import { clock } from './process.ts';

/** What takes endpoints in: which URLs may be called, and how their secrets are made. */
export function connectWebhooks(
  environment: Environment,
  endpoints: EndpointStore,
): Pick<ApiPorts, 'jobEndpoints' | 'checkWebhookUrl' | 'newSecret'> {
  const config = readWebhookConfig(environment);
  const resolve = config.allowLocal ? systemResolve : dnsResolve();
  const made = { endpoints, clock, newSecret: () => newSecret(randomBytes) };
  const checkWebhookUrl: CheckWebhookUrl = async (url) => {
    const checked = await checkTarget(url, config, resolve);
    return checked.kind === 'ok' ? null : checked.detail;
  };
  const ensure = (owner: string, url: string) => ensureJobEndpoint(made, owner, url);
  const jobEndpoints = new RememberedEndpoints({ ensure, checkWebhookUrl, clock });
  return { jobEndpoints, checkWebhookUrl, newSecret: made.newSecret };
}
