import { invalid } from '../api/answer.ts';

/**
 * What goes wrong with a webhook. `drop`: it is never sent. `duplicate`: once it was taken, it is sent again. `delay`: it is sent `ms`
 * late, after others that came later. `wrong-signature`: each of its attempts is signed with another secret.
 */
const WEBHOOK_FAULT_KINDS = ['drop', 'duplicate', 'delay', 'wrong-signature'] as const;
type WebhookFaultKind = (typeof WEBHOOK_FAULT_KINDS)[number];

export type WebhookFaultRule = {
  id: string;
  kind: WebhookFaultKind;
  /** Only for `delay`; milliseconds of real time. */
  ms: number;
  /** Only those about this job. */
  jobId?: string;
  /** How many it still strikes; null for all that come. */
  left: number | null;
  /** Chance to strike each of them, 0 to 1. */
  probability: number;
  /** How many it has struck. */
  struck: number;
};

const FIELDS = new Set(['kind', 'ms', 'jobId', 'count', 'probability']);

/** `{kind, ms?, jobId?, count?, probability?}`. Throws a Refusal naming the field that is wrong. */
export function readWebhookFaultRule(body: unknown, id: string): WebhookFaultRule {
  if (typeof body !== 'object' || body === null) throw invalid('body', 'must be a rule or a list of them');
  const given = body as Record<string, unknown>;
  const kind = WEBHOOK_FAULT_KINDS.find((known) => known === given.kind);
  if (kind === undefined) throw invalid('kind', `must be one of ${WEBHOOK_FAULT_KINDS.join(', ')}`);
  const unknown = Object.keys(given).find((name) => !FIELDS.has(name));
  if (unknown !== undefined) throw invalid(unknown, 'is no field of a webhook fault');
  const { ms = 0, jobId, count = null, probability = 1 } = given;
  if (typeof ms !== 'number' || ms < 0 || (kind === 'delay') !== ms > 0) {
    throw invalid('ms', 'must be a number of milliseconds, for a delay and for nothing else');
  }
  if (jobId !== undefined && typeof jobId !== 'string') throw invalid('jobId', 'must be a job id');
  if (count !== null && (typeof count !== 'number' || count < 0)) throw invalid('count', 'must be a number, or null');
  if (typeof probability !== 'number' || probability < 0 || probability > 1) {
    throw invalid('probability', 'must be a number from 0 to 1');
  }
  return { id, kind, ms, ...(jobId !== undefined && { jobId }), left: count, probability, struck: 0 };
}

/** All rules that strike this job's webhook, each counted down: one may be late and twice. */
export function strikeWebhook(rules: readonly WebhookFaultRule[], jobId: string, random: () => number) {
  return rules.filter((rule) => {
    if (rule.left === 0 || (rule.jobId !== undefined && rule.jobId !== jobId)) return false;
    if (rule.probability < 1 && random() >= rule.probability) return false;
    if (rule.left !== null) rule.left -= 1;
    rule.struck += 1;
    return true;
  });
}
