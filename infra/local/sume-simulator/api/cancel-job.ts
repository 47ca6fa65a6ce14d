import { isTerminal } from '../job.ts';
import { rememberedJob } from '../remembered-job.ts';
import { changeJob } from '../world.ts';
import { type Answer, Refusal } from './answer.ts';
import { type Call, ownJob } from './call.ts';
import { canceledBody } from './job-body.ts';

/** POST /v1/jobs/{id}/cancel: for a queued or processing job. Canceling a canceled job again changes nothing and is answered the same. */
export function cancelJob(call: Call): Answer {
  const { simulator, origin, nowMs } = call;
  const { job } = ownJob(call);
  const remembered = rememberedJob(call, `POST /jobs/${job.id}/cancel`);
  if (isTerminal(job.state) && job.state !== 'canceled') {
    throw new Refusal(409, 'job_not_cancelable', `The job is ${job.state} already.`, { status: job.state });
  }
  if (job.state !== 'canceled') changeJob(simulator.world, job, 'canceled', nowMs, remembered.used);
  const headers = remembered.job === undefined ? [] : ['Idempotent-Replayed', 'true'];
  return { status: 200, headers, body: canceledBody(simulator.settings.form, job, origin) };
}
