import { invalid } from './answer.ts';
import { RESOLUTIONS } from './price.ts';

/** A create body that passed: what prices and times the clip, and the body as it came. */
export type CreateRequest = {
  model: string;
  durationSeconds: number;
  resolution: string;
  input: Record<string, unknown>;
};

const MODEL_LENGTH_MAX = 200;
const PROMPT_LENGTH_MAX = 10_000;
const DURATION_SECONDS_MIN = 1;
const DURATION_SECONDS_MAX = 60;
const DURATION_SECONDS_DEFAULT = 5;
const RESOLUTION_DEFAULT = '720p';

/** Checks the fields the service knows; all others pass. Throws a Refusal naming the field. */
export function readCreateRequest(body: unknown): CreateRequest {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw invalid('body', 'must be a JSON object');
  }
  const input = body as Record<string, unknown>;
  const model = text(input, 'model', MODEL_LENGTH_MAX);
  text(input, 'prompt', PROMPT_LENGTH_MAX);
  const durationSeconds = input.duration ?? DURATION_SECONDS_DEFAULT;
  if (
    typeof durationSeconds !== 'number' ||
    durationSeconds < DURATION_SECONDS_MIN ||
    durationSeconds > DURATION_SECONDS_MAX
  ) {
    throw invalid('duration', `must be a number of seconds from ${DURATION_SECONDS_MIN} to ${DURATION_SECONDS_MAX}`);
  }
  const resolution = input.resolution ?? RESOLUTION_DEFAULT;
  if (typeof resolution !== 'string' || !RESOLUTIONS.has(resolution)) {
    throw invalid('resolution', `must be one of ${[...RESOLUTIONS.keys()].join(', ')}`);
  }
  checkWebhook(input.webhook_url);
  return { model, durationSeconds, resolution, input };
}

function text(input: Record<string, unknown>, field: string, lengthMax: number): string {
  const value = input[field];
  if (value === undefined) throw invalid(field, 'is required');
  if (typeof value !== 'string' || value.trim() === '') throw invalid(field, 'must be a non-empty string');
  if (value.length > lengthMax) throw invalid(field, `must be at most ${lengthMax} characters long`);
  return value;
}

function checkWebhook(url: unknown): void {
  if (url === undefined || url === null) return;
  const address = typeof url === 'string' && URL.canParse(url) ? new URL(url) : null;
  // The service takes https alone; who tests on this machine mostly has no certificate.
  const isUsable = address?.protocol === 'https:' || (address?.protocol === 'http:' && isLoopback(address.hostname));
  if (!isUsable || address.username !== '' || address.password !== '') {
    throw invalid('webhook_url', 'must be an https address, or an http one on this machine');
  }
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname);
}
