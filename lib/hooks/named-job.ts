import { isObject, type Json } from '../json.ts';

/**
 * Whether the body of a provider's call speaks of another job than this one. Its shape is not described by Sume: ids are looked
 * for where its other documents have them, and a body that names no job is about the one that the address names.
 */
export function isAboutAnother(body: Uint8Array, providerJobId: string | undefined): boolean {
  if (providerJobId === undefined) return false;
  const ids = jobIdsIn(body);
  return ids.length > 0 && !ids.includes(providerJobId);
}

function jobIdsIn(body: Uint8Array): string[] {
  let document: unknown;
  try {
    document = JSON.parse(Buffer.from(body).toString('utf8'));
  } catch {
    return [];
  }
  const whole = objectOr(document);
  const data = objectOr(whole.data);
  const jobs = [whole.job, data.job].map(objectOr);
  const ofJobs = [whole.job_id, data.job_id, ...jobs.flatMap(({ id, job_id }) => [id, job_id])].filter(isText);
  // These may be the event's or the call's own.
  const unclear = [whole.id, whole.request_id, data.id, data.request_id].filter(isText);
  return [...ofJobs, ...unclear.filter((id) => id.startsWith('job_'))];
}

function isText(value: Json | undefined): value is string {
  return typeof value === 'string' && value !== '';
}

function objectOr(value: unknown) {
  return isObject(value) ? value : {};
}
