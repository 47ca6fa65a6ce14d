/*
 * When one drain is not enough. It is pressed while its claims come back full and the oldest id it got was due more than
 * a tick ago: it has no lane free and falls behind. Pressed for a while, it asks for a helper: one more drain on the same
 * set, started by itself (one hop, a helper never asks). A helper that has not been pressed for a while leaves.
 */

export interface FanOutSettings {
  tickMs: number;
  /** Most helpers that one run asks for; 0 switches fanning out off. */
  helpersMax: number;
}

const pressedTicks = 3;
const calmTicks = 5;

export class FanOut {
  readonly #tickMs: number;
  readonly #helpersMax: number;
  #asked = 0;
  #pressed = false;
  #sinceMs: number;

  /** `nowMs` is monotonic, here and below. */
  constructor(settings: FanOutSettings, nowMs: number) {
    this.#tickMs = settings.tickMs;
    this.#helpersMax = settings.helpersMax;
    this.#sinceMs = nowMs;
  }

  /** After an exchange: `full`, every claim that was asked for came; `lagMs`, how long ago the oldest of them was due. */
  observe(full: boolean, lagMs: number, nowMs: number): void {
    const pressed = full && lagMs > this.#tickMs;
    if (pressed === this.#pressed) return;
    this.#pressed = pressed;
    this.#sinceMs = nowMs;
  }

  /** True when one more helper is to be started now. Counts it as asked for; the next one needs as long again. */
  wantsHelper(nowMs: number): boolean {
    const long = nowMs - this.#sinceMs >= pressedTicks * this.#tickMs;
    if (!this.#pressed || !long || this.#asked >= this.#helpersMax) return false;
    this.#asked++;
    this.#sinceMs = nowMs;
    return true;
  }

  /** True when a helper has nothing left to help with. */
  isCalm(nowMs: number): boolean {
    return !this.#pressed && nowMs - this.#sinceMs >= calmTicks * this.#tickMs;
  }
}
