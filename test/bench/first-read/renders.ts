import { jobIdFor } from '../../../lib/identify.ts';
import type { JsonObject } from '../../../lib/json.ts';
import type { Outcome } from '../../../lib/outcome.ts';
import { Dice } from '../../sim/dice.ts';

/* The renders of the measurement: what is sent when, how long it takes, and what the provider says of it meanwhile. */

export interface Render {
  id: string;
  input: JsonObject;
  /** When the create is sent, ms since 1970. */
  sentAtMs: number;
  /** From then on, ms: until it is rendered, and until it has ended. */
  queuedMs: number;
  endsMs: number;
  fails: boolean;
  /** What a read while it is rendered is told to wait. */
  hintMs: number;
}

/** Log-normal around a median, in s. `failing`: the share that fails within twenty seconds. */
interface Kind {
  input: JsonObject;
  share: number;
  medianS: number;
  sigma: number;
  failing: number;
  hintS: number;
}

const kinds: readonly Kind[] = [
  { ...kind('seedance-2-mini', 5, '720p'), share: 0.35, medianS: 75, sigma: 0.3, failing: 0.005, hintS: 15 },
  { ...kind('seedance-2-mini', 10, '720p'), share: 0.25, medianS: 120, sigma: 0.3, failing: 0.005, hintS: 15 },
  { ...kind('kling-3-pro', 10, '1080p'), share: 0.25, medianS: 240, sigma: 0.35, failing: 0.01, hintS: 15 },
  // Nothing can be saved here: too short, and too often over at once.
  { ...kind('flash-preview', 4, '480p'), share: 0.15, medianS: 25, sigma: 0.5, failing: 0.06, hintS: 5 },
];
/** Half of the renders wait at the provider first. */
const waitingShare = 0.5;
const waitMedianS = 25;
const waitSigma = 0.8;
const queuedHintS = { least: 16, most: 30 };

export const firstMs = 1_790_000_000_000;
export const dayMs = 24 * 3_600_000;

/** From a moment on, ms since 1970, all renders are so many times as fast. */
export interface Faster {
  fromMs: number;
  times: number;
}

const never: Faster = { fromMs: Number.POSITIVE_INFINITY, times: 1 };

/** `count` renders over `days`, more of them by day than by night. */
export function renders(seed: string, count: number, days: number, faster = never): Render[] {
  const dice = new Dice(seed);
  const sent = Array.from({ length: count }, () => firstMs + Math.round(sentAt(dice, days))).sort((a, b) => a - b);
  return sent.map((sentAtMs, n) => {
    const kind = pick(dice.roll());
    const factor = sentAtMs >= faster.fromMs ? 1 / faster.times : 1;
    const waits = dice.chance(waitingShare);
    const waitS = waits ? logNormal(dice, waitMedianS, waitSigma) : 0;
    const renderS = logNormal(dice, kind.medianS, kind.sigma);
    const fails = dice.chance(kind.failing);
    const failsS = dice.between(1, 20);
    return {
      id: jobIdFor(seed, String(n)),
      input: kind.input,
      sentAtMs,
      queuedMs: Math.round((fails ? 0 : waitS * factor) * 1_000),
      endsMs: Math.round((fails ? failsS : (waitS + renderS) * factor) * 1_000),
      fails,
      hintMs: kind.hintS * 1_000,
    };
  });
}

/** What the provider says of the render when it is `ageMs` old. */
export function outcomeAt(render: Render, ageMs: number): Outcome {
  if (ageMs >= render.endsMs) {
    if (render.fails) return { kind: 'ended', as: 'failed', word: 'failed' };
    return { kind: 'completed', word: 'completed', result: { value: { url: 'x' }, truncated: false } };
  }
  const phase = ageMs < render.queuedMs ? 'queued' : 'processing';
  return { kind: 'running', phase, word: phase, hintMs: hintAt(render, ageMs) };
}

/** A queued render is told to wait the longer the further back it stands. */
function hintAt({ queuedMs, hintMs }: Render, ageMs: number): number {
  if (ageMs >= queuedMs) return hintMs;
  const leftS = (queuedMs - ageMs) / 1_000;
  return 1_000 * Math.min(queuedHintS.most, Math.round(queuedHintS.least + leftS / 10));
}

function kind(model: string, duration: number, resolution: string) {
  return { input: { model, prompt: 'a lighthouse', duration, resolution } };
}

function pick(roll: number): Kind {
  let below = 0;
  for (const kind of kinds) {
    below += kind.share;
    if (roll < below) return kind;
  }
  return kinds[0] as Kind;
}

/** Three of four in the sixteen busy hours of a day. */
function sentAt(dice: Dice, days: number): number {
  const hour = dice.chance(0.75) ? dice.between(7, 23) : dice.between(-1, 7);
  return (dice.whole(0, days - 1) + (hour + 1) / 24) * dayMs;
}

/** Box–Muller. */
function logNormal(dice: Dice, median: number, sigma: number): number {
  const normal = Math.sqrt(-2 * Math.log(1 - dice.roll())) * Math.cos(2 * Math.PI * dice.roll());
  return median * Math.exp(sigma * normal);
}
