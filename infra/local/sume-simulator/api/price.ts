/**
 * Micro-dollars for one second at 720p. Only `seedance-2-mini` is a published price ($1.89 for 10 s, linear);
 * the others are made up, so that totals differ by model. A model that is not here costs `OTHER_MODEL`.
 */
const MICROS_PER_SECOND: ReadonlyMap<string, number> = new Map([
  ['seedance-2-mini', 189_000],
  ['seedance-2', 310_000],
  ['seedance-2-fast', 240_000],
  ['seedance-1-lite', 90_000],
  ['kling-3', 420_000],
  ['veo-4', 500_000],
]);
const OTHER_MODEL = 250_000;

/** Made up as well: price and render time grow with the number of pixels. */
export const RESOLUTIONS: ReadonlyMap<string, { price: number; renderTime: number }> = new Map([
  ['480p', { price: 0.5, renderTime: 0.7 }],
  ['720p', { price: 1, renderTime: 1 }],
  ['1080p', { price: 2.25, renderTime: 1.6 }],
  ['4k', { price: 6, renderTime: 2.5 }],
]);

/** Price of a clip in whole micro-dollars, linear in its duration. */
export function priceMicros(clip: { model: string; durationSeconds: number; resolution: string }): number {
  const perSecond = MICROS_PER_SECOND.get(clip.model) ?? OTHER_MODEL;
  const factor = RESOLUTIONS.get(clip.resolution)?.price ?? 1;
  return Math.round(perSecond * clip.durationSeconds * factor);
}
