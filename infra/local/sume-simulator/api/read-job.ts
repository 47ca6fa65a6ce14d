import { isTerminal, JOB_STATES, JOB_TYPE, type JobState, jobEvents } from '../job.ts';
import { advance, queuePlace } from '../workspace.ts';
import { type Answer, invalid, Refusal } from './answer.ts';
import { type Call, ownJob } from './call.ts';
import { inForm, isoTime, jobBody, statusBody, wholeJob } from './job-body.ts';
import { readLimit, takePage } from './page.ts';
import { nextPollAfterSeconds } from './poll-hint.ts';

/** GET /v1/jobs/{id}/status */
export function readStatus(call: Call): Answer {
  const { job, workspace } = ownJob(call);
  const { settings, statusBodies } = call.simulator;
  const hintSeconds = nextPollAfterSeconds(job.state, queuePlace(workspace, job), settings.timeScale);
  const read = { hintSeconds, terminal: isTerminal(job.state) };
  const last = statusBodies.get(job.id);
  if (last !== undefined && last.state === job.state && last.hintSeconds === hintSeconds) {
    return { status: 200, body: last.body, read };
  }
  const body = statusBody(settings.form, job, hintSeconds);
  statusBodies.set(job.id, { state: job.state, hintSeconds, body });
  return { status: 200, body, read };
}

/** GET /v1/jobs/{id} */
export function readJob(call: Call): Answer {
  const { job } = ownJob(call);
  return { status: 200, body: jobBody(call.simulator.settings.form, job, call.origin) };
}

/** GET /v1/jobs/{id}/events?limit= — the job's life, oldest first. */
export function readEvents(call: Call): Answer {
  const { job } = ownJob(call);
  const limit = readLimit(new URLSearchParams(call.query), 50);
  const events = jobEvents(job)
    .slice(0, limit)
    .map((event, index) => ({
      id: `evt_${job.id.slice(4)}_${index + 1}`,
      type: event.type,
      summary: event.summary,
      created_at: isoTime(event.atMs),
      data: {},
    }));
  const { form } = call.simulator.settings;
  return { status: 200, body: inForm(form, { events }, { request_id: job.id, job_id: job.id, events }) };
}

/** GET /v1/jobs?limit=&cursor=&status=&type= — newest first. */
export function listJobs(call: Call): Answer {
  const query = new URLSearchParams(call.query);
  const { workspace } = call.tenant;
  advance(workspace, call.simulator.world.lanes, call.nowMs);
  const status = query.get('status');
  if (status !== null && !JOB_STATES.includes(status as JobState)) {
    throw invalid('status', `must be one of ${JOB_STATES.join(', ')}`);
  }
  const type = query.get('type');
  const wanted = workspace.jobs.filter(
    (job) => (status === null || job.state === status) && (type === null || type === JOB_TYPE),
  );
  const { page, nextCursor } = takePage(wanted, query, (job) => job.number);
  const jobs = page.map(wholeJob);
  const list = { jobs, next_cursor: nextCursor, has_more: nextCursor !== null };
  return { status: 200, body: inForm(call.simulator.settings.form, list, list) };
}

/** 409 for a job that has no result: not yet, or never. */
export function refuseResult(state: JobState): Refusal {
  if (!isTerminal(state)) return new Refusal(409, 'job_not_completed', 'Job is not completed.', { status: state });
  return new Refusal(409, `job_${state}`, `Job is ${state}: there is no result.`, { status: state });
}
