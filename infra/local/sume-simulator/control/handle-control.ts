import type { IncomingMessage, ServerResponse } from 'node:http';
import { invalid, Refusal, refusalAnswer } from '../api/answer.ts';
import { parseBody, readBody } from '../api/read-body.ts';
import { JOB_STATES, type JobState } from '../job.ts';
import type { Simulator } from '../simulator.ts';
import { advanceAll, changeJob } from '../world.ts';
import { resetObservations } from './observations.ts';
import { readFaultRule } from './read-fault-rule.ts';
import { makeReport } from './report.ts';
import { addWebhookFaults, setWebhookSecret } from './webhook-controls.ts';

export type Control = { simulator: Simulator; jobId: string; query: URLSearchParams; body: unknown };

/**
 * The tester's side door, loopback only. Faults: POST one rule or a list (they are added, earlier ones strike first),
 * GET, DELETE (all, or `?id=`). Jobs: GET all, POST `/jobs/{id}` `{"state"}`. GET `/report?detail=1`, POST `/reset-observations`.
 * Webhooks: GET `/webhooks` (what became of each), `/webhook-faults` like faults, POST `/webhook-secret` `{"secret", "apiKey"?}`.
 */
const CONTROLS: Record<string, (control: Control) => unknown> = {
  'GET /report': ({ simulator, query }) =>
    makeReport(simulator.world, simulator.seen, simulator.settings.nowMs(), query.get('detail') === '1'),
  'POST /reset-observations': ({ simulator }) => {
    resetObservations(simulator.seen);
    return { reset: true };
  },
  'GET /faults': ({ simulator }) => ({ rules: simulator.rules }),
  'POST /faults': addFaults,
  'DELETE /faults': ({ simulator, query }) => {
    const id = query.get('id');
    simulator.rules = id === null ? [] : simulator.rules.filter((rule) => rule.id !== id);
    return { rules: simulator.rules };
  },
  'GET /jobs': ({ simulator }) => {
    advanceAll(simulator.world, simulator.settings.nowMs());
    return { jobs: [...simulator.world.jobs.values()] };
  },
  'POST /jobs/': forceState,
  'GET /webhooks': ({ simulator }) => ({ webhooks: simulator.outbox.logs }),
  'GET /webhook-faults': ({ simulator }) => ({ rules: simulator.outbox.rules }),
  'POST /webhook-faults': addWebhookFaults,
  'DELETE /webhook-faults': ({ simulator: { outbox }, query }) => {
    const id = query.get('id');
    outbox.rules = id === null ? [] : outbox.rules.filter((rule) => rule.id !== id);
    return { rules: outbox.rules };
  },
  'POST /webhook-secret': setWebhookSecret,
};

export async function handleControl(
  simulator: Simulator,
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
  query: string,
): Promise<void> {
  let status = 200;
  let body: string;
  try {
    checkCaller(simulator, request);
    const text = await readBody(request);
    const [, , room, jobId = ''] = path.split('/');
    const act = CONTROLS[`${request.method} /${room}${jobId === '' ? '' : '/'}`];
    if (act === undefined) throw new Refusal(404, 'not_found', 'No such control.');
    const control = { simulator, jobId, query: new URLSearchParams(query), body: parseBody(text) };
    body = JSON.stringify(act(control));
  } catch (error) {
    const refusal = error instanceof Refusal ? error : new Refusal(500, 'internal_error', String(error));
    status = refusal.status;
    body = refusalAnswer(refusal, 'req_control').body;
  }
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(body);
}

function checkCaller({ settings }: Simulator, request: IncomingMessage): void {
  const address = request.socket.remoteAddress ?? '';
  const local = address === '::1' || address.startsWith('127.') || address.startsWith('::ffff:127.');
  if (!local) throw new Refusal(404, 'not_found', 'No such path.');
  if (settings.controlToken !== undefined && request.headers['x-control-token'] !== settings.controlToken) {
    throw new Refusal(401, 'invalid_control_token', 'Send the control token as x-control-token.');
  }
}

function addFaults({ simulator, body }: Control): unknown {
  const given: unknown[] = Array.isArray(body) ? body : [body];
  const taken = simulator.rules.length;
  const rules = given.map((rule, index) => readFaultRule(rule, `fault_${taken + index + 1}`));
  simulator.rules.push(...rules);
  return { rules };
}

function forceState({ simulator, jobId, body }: Control): unknown {
  const job = simulator.world.jobs.get(decodeURIComponent(jobId));
  if (job === undefined) throw new Refusal(404, 'job_not_found', 'No such job.');
  const state = typeof body === 'object' && body !== null ? (body as Record<string, unknown>).state : undefined;
  if (!JOB_STATES.includes(state as JobState)) throw invalid('state', `must be one of ${JOB_STATES.join(', ')}`);
  changeJob(simulator.world, job, state as JobState, simulator.settings.nowMs());
  return { job };
}
