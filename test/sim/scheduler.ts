import type { Dice } from './dice.ts';

/** When every simulation starts, ms since 1970. */
export const epochMs = 1_800_000_000_000;

interface Event {
  readonly atMs: number;
  /** What comes first at equal times is up to the seed. */
  readonly tie: number;
  readonly run: () => unknown;
}

/*
 * Virtual time, and the order of everything. One event is one step: it runs, then every promise that it settled runs to
 * its end, then the next event may come. Nothing else makes time go on, so a seed always gives the same history.
 */
export class Scheduler {
  readonly #dice: Dice;
  readonly #heap: Event[] = [];
  #nowMs = epochMs;
  #steps = 0;

  constructor(dice: Dice) {
    this.#dice = dice;
  }

  /** The true time, ms since 1970. No part of the product ever sees it. */
  get nowMs(): number {
    return this.#nowMs;
  }

  get steps(): number {
    return this.#steps;
  }

  after(delayMs: number, run: () => unknown): void {
    this.at(this.#nowMs + delayMs, run);
  }

  at(atMs: number, run: () => unknown): void {
    this.#push({ atMs: Math.max(atMs, this.#nowMs), tie: this.#dice.roll(), run });
  }

  /** Runs the next event to its end. What it returns is awaited: a real Redis answers before virtual time goes on. */
  async step(): Promise<void> {
    const event = this.#pop();
    if (event === undefined) throw new Error('The simulation has no event left, not even the schedule.');
    this.#nowMs = event.atMs;
    this.#steps++;
    const doing = event.run();
    if (doing instanceof Promise) await doing;
    await everyPromise();
  }

  #push(event: Event): void {
    const heap = this.#heap;
    let place = heap.length;
    heap.push(event);
    while (place > 0) {
      const parent = (place - 1) >> 1;
      if (!isBefore(event, heap[parent] as Event)) break;
      heap[place] = heap[parent] as Event;
      place = parent;
    }
    heap[place] = event;
  }

  #pop(): Event | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || last === undefined || heap.length === 0) return first;
    let place = 0;
    for (;;) {
      const left = 2 * place + 1;
      if (left >= heap.length) break;
      const right = left + 1;
      const child = right < heap.length && isBefore(heap[right] as Event, heap[left] as Event) ? right : left;
      if (!isBefore(heap[child] as Event, last)) break;
      heap[place] = heap[child] as Event;
      place = child;
    }
    heap[place] = last;
    return first;
  }
}

function isBefore(a: Event, b: Event): boolean {
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.tie < b.tie);
}

/** Resolves once no promise has anything left to run: they all come before the next turn of Node's loop. */
function everyPromise(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
