import { Lanes } from './lanes.ts';

/**
 * Writes of the record, after a provider's answer, at a time. At DynamoDB's few ms each that is about a thousand a second;
 * what more there is waits in hand, its lease renewed, and leaves the processor to the reads.
 */
const writesAtATime = 6;

export class WriteTurns {
  readonly #lanes = new Lanes<() => Promise<void>>(writesAtATime, (write) => write());
  readonly #end: AbortSignal;

  /** `end` is when the run is over: nothing of it goes on in the next one. */
  constructor(end: AbortSignal) {
    this.#end = end;
  }

  /** Runs the write when its turn comes. Null when the run has ended meanwhile. */
  take<T>(write: () => Promise<T>): Promise<T | null> {
    return new Promise((resolve, reject) => {
      this.#lanes.push(async () => {
        if (this.#end.aborted) return resolve(null);
        await write().then(resolve, reject);
      });
    });
  }
}
