import { invalid } from '../api/answer.ts';
import { readWebhookFaultRule } from '../webhooks/webhook-faults.ts';
import type { Control } from './handle-control.ts';

export function addWebhookFaults({ simulator: { outbox }, body }: Control): unknown {
  const given: unknown[] = Array.isArray(body) ? body : [body];
  const taken = outbox.rules.length;
  const rules = given.map((rule, index) => readWebhookFaultRule(rule, `webhook_fault_${taken + index + 1}`));
  outbox.rules.push(...rules);
  return { rules };
}

/** Takes effect for attempts from now on, so that a change of secrets can be tried out. */
export function setWebhookSecret({ simulator: { outbox }, body }: Control): unknown {
  const { secret, apiKey = '' } = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>;
  if (typeof secret !== 'string') throw invalid('secret', 'must be a text, empty for none');
  if (typeof apiKey !== 'string') throw invalid('apiKey', 'must be an API key, or left out for all');
  outbox.setSecret(apiKey, secret);
  return { set: true };
}
