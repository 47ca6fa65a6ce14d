import type { Job } from '../job.ts';
import { signMediaPath } from '../media/media-url.ts';
import type { Answer } from './answer.ts';
import { type Call, ownJob } from './call.ts';
import { inForm, usageBody } from './job-body.ts';
import { refuseResult } from './read-job.ts';

/** GET /v1/jobs/{id}/result: media addresses, signed anew at every call and good for `mediaSeconds`. */
export function readResult(call: Call): Answer {
  const { job } = ownJob(call);
  if (job.state !== 'completed') throw refuseResult(job.state);
  const result = { video: videoOf(call, job), model: job.model };
  const usage = usageBody(job);
  const body = inForm(
    call.simulator.settings.form,
    { id: job.id, status: job.state, sume_status: job.state, result, usage },
    { request_id: job.id, job_id: job.id, status: 'COMPLETED', sume_status: job.state, result, usage },
  );
  return { status: 200, body };
}

function videoOf(call: Call, job: Job): Record<string, unknown> {
  const { settings, secureOrigin, world } = call.simulator;
  const expiresAtSec = Math.ceil(call.nowMs / 1000) + settings.mediaSeconds;
  const path = signMediaPath(world.seed, job.id, expiresAtSec);
  return {
    url: `${call.origin}${path}`,
    ...(secureOrigin !== undefined && { download_url: `${secureOrigin}${path}` }),
    filename: `${job.id}.mp4`,
    content_type: 'video/mp4',
    duration_seconds: job.durationSeconds,
    expires_at: new Date(expiresAtSec * 1000).toISOString(),
  };
}
