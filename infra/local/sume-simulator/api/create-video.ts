import { createHash } from 'node:crypto';
import { keyLogOf, noteRefusal } from '../control/key-log.ts';
import type { Job } from '../job.ts';
import type { CreatedJob } from '../journal.ts';
import { rememberedJob } from '../remembered-job.ts';
import { evenly, jobRandoms, renderSeconds } from '../render/render-time.ts';
import { advance, nextLaneAtMs, queuePlace } from '../workspace.ts';
import { createJob } from '../world.ts';
import { type Answer, Refusal, tooMany } from './answer.ts';
import type { Call } from './call.ts';
import { type CreateRequest, readCreateRequest } from './create-request.ts';
import { createdBody } from './job-body.ts';
import { nextPollAfterSeconds, scaledSeconds } from './poll-hint.ts';
import { priceMicros } from './price.ts';

/** A refused create that names no lane's end waits this long, in modelled seconds. */
const RETRY_SECONDS = 15;
/** A failing render fails somewhere in the first part of its time. */
const FAILS_WITHIN = 0.8;

/**
 * POST /v1/videos. A repeat with the same key and body gets the same job (200); a new job is 202. A refused create leaves
 * nothing behind, its key included: the same key can be tried again.
 */
export function createVideo(call: Call): Answer {
  const { simulator } = call;
  const remembered = rememberedJob(call, 'POST /videos');
  if (remembered.job !== undefined) {
    return { ...created(call, remembered.job, true), headers: ['Idempotent-Replayed', 'true'] };
  }
  const request = readCreateRequest(call.body);
  const priced = { ...request, priceMicros: priceMicros(request) };
  checkRoom(call, priced.priceMicros);
  const job = createJob(simulator.world, newJob(call, priced), remembered.used);
  simulator.outbox.watch(job);
  return created(call, job, false);
}

/** Tells the job's status, and when to look first. A reader who looks at once all the same is not counted as early. */
function created({ simulator, tenant, origin }: Call, job: Job, hit: boolean): Answer {
  const { form, timeScale } = simulator.settings;
  const hintSeconds = nextPollAfterSeconds(job.state, queuePlace(tenant.workspace, job), timeScale);
  return { status: hit ? 200 : 202, body: createdBody(form, job, { origin, hit, hintSeconds }) };
}

/** Throws a Refusal when the money or the places do not suffice. */
function checkRoom(call: Call, price: number): void {
  const { tenant, simulator, nowMs } = call;
  const { workspace } = tenant;
  const { settings, world } = simulator;
  advance(workspace, world.lanes, nowMs);
  const available = settings.startBalanceUsdMicros - workspace.reservedMicros - workspace.capturedMicros;
  if (price > available) {
    const details = { required_usd_micros: price, available_balance_usd_micros: available };
    throw new Refusal(402, 'insufficient_credits', 'Not enough credits for this request.', details);
  }
  const { processing, queued } = settings.limits;
  if (workspace.processingCount < processing || workspace.queue.length < queued) return;
  noteRefusal(keyLogOf(simulator.seen, workspace.id), 'createsRefusedForRoom', nowMs);
  const laneAtMs = nextLaneAtMs(workspace);
  const waitSeconds =
    laneAtMs === undefined
      ? scaledSeconds(RETRY_SECONDS, settings.timeScale)
      : Math.max(1, Math.ceil((laneAtMs - nowMs) / 1000));
  throw tooMany('concurrency_limit_exceeded', 'All processing and queue places of the plan are taken.', waitSeconds, {
    processing: workspace.processingCount,
    queued: workspace.queue.length,
    processing_limit: processing,
    queued_limit: queued,
  });
}

function newJob(call: Call, request: CreateRequest & { priceMicros: number }): CreatedJob {
  const { settings, world } = call.simulator;
  const number = world.jobs.size;
  const id = `job_${createHash('sha256').update(`${world.seed}\n${number}`).digest('hex').slice(0, 24)}`;
  const randoms = jobRandoms(world.seed, id);
  const seconds = settings.renderSeconds
    ? evenly(settings.renderSeconds, randoms.render[0])
    : renderSeconds(request, randoms.render);
  const fails = randoms.fate < settings.failureShare;
  const share = fails ? randoms.failure * FAILS_WITHIN : 1;
  return {
    id,
    workspace: call.tenant.workspace.id,
    number,
    model: request.model,
    durationSeconds: request.durationSeconds,
    resolution: request.resolution,
    input: request.input,
    priceMicros: request.priceMicros,
    createdAtMs: call.nowMs,
    fate: fails ? 'failed' : 'completed',
    renderMs: Math.round((seconds * share * 1000) / settings.timeScale),
  };
}
