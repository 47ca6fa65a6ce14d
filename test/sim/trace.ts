import { hashOf } from './dice.ts';
import { epochMs } from './scheduler.ts';

const kept = 200;

/** What happened, line by line: the last lines to be read, all of them in one digest to be compared. */
export class Trace {
  readonly #lines: string[] = [];
  #count = 0;
  #digest = 0;

  note(step: number, atMs: number, text: string): void {
    const line = `${step} ${((atMs - epochMs) / 1_000).toFixed(4)}s ${text}`;
    this.#digest = (Math.imul(this.#digest, 31) + hashOf(line)) >>> 0;
    this.#lines[this.#count++ % kept] = line;
  }

  tail(): string[] {
    const first = Math.max(0, this.#count - kept);
    return Array.from({ length: this.#count - first }, (_, i) => this.#lines[(first + i) % kept] as string);
  }

  /** Equal for equal histories. */
  get digest(): string {
    return `${this.#count}-${this.#digest.toString(16).padStart(8, '0')}`;
  }
}
