import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Hand, type Held } from '../../lib/hand.ts';
import { leaseEndOf } from '../../lib/lease.ts';
import type { Settlement } from '../../lib/ports.ts';
import { startMs } from '../support/jobs.ts';

const leaseMs = 10_000;
const max = 100;

/** A hand beside a naive bookkeeper of the same claims. Each method does one thing to both and compares the answers. */
class Course {
  readonly #hand = new Hand(leaseMs);
  readonly #book = new Map<string, { held: Held; phase: Held['phase']; token: string; dueAtMs: number }>();
  #sent: Settlement[] = [];
  #nowMs = startMs;

  take(id: string): void {
    // A later claim's token is always larger.
    this.#nowMs++;
    const token = String(this.#nowMs + leaseMs + 1 / 16);
    const dueAtMs = this.#nowMs - 20;
    const known = this.#book.get(id);
    const held = this.#hand.take({ id, dueAtMs, token, claims: 1 });
    expect(held === null).toBe(known !== undefined);
    if (held !== null) this.#book.set(id, { held, phase: 'unstarted', token, dueAtMs });
    if (known !== undefined) known.token = token;
  }

  start(id: string): void {
    const known = this.#book.get(id);
    if (known?.phase !== 'unstarted') return;
    this.#hand.start(known.held);
    known.phase = 'running';
  }

  finish(id: string): void {
    const known = this.#book.get(id);
    if (known === undefined || known.phase === 'done') return;
    this.#hand.finish(known.held, { kind: 'due', atMs: this.#nowMs + 15_000 });
    known.phase = 'done';
  }

  drop(id: string): void {
    const known = this.#book.get(id);
    if (known !== undefined) this.#hand.drop(known.held);
    this.#book.delete(id);
  }

  giveBack(): void {
    const unstarted = [...this.#book.values()].filter(({ phase }) => phase === 'unstarted');
    expect(this.#hand.giveBackAll()).toBe(unstarted.length);
    for (const entry of unstarted) {
      entry.phase = 'done';
      expect(entry.held.settle).toEqual({ kind: 'due', atMs: entry.dueAtMs });
    }
  }

  wait(): void {
    this.#nowMs += 1_700;
  }

  /** An exchange leaves; when its reply is lost, the next one simply takes its place. */
  send(): void {
    this.#sent = this.#hand.settlements(this.#nowMs, max);
    expect(new Set(this.#sent.map(({ id }) => id)).size).toBe(this.#sent.length);
    for (const { id, token, to } of this.#sent) {
      const known = this.#book.get(id);
      expect(token).toBe(known?.token);
      expect(to.kind === 'renew' || known?.phase === 'done').toBe(true);
    }
    const done = [...this.#book].filter(([, { phase }]) => phase === 'done').map(([id]) => id);
    expect(this.#sent.map(({ id }) => id)).toEqual(expect.arrayContaining(done));
  }

  reply(staleIds: readonly string[]): void {
    const stale = new Set(staleIds);
    const current = this.#sent.filter(({ id, token }) => this.#book.get(id)?.token === token);
    const lost = this.#hand.confirm(this.#sent, stale).map(({ id }) => id);
    expect(lost).toEqual(current.map(({ id }) => id).filter((id) => stale.has(id)));
    for (const { id, to } of current) {
      const known = this.#book.get(id);
      if (to.kind === 'renew' && known !== undefined && !stale.has(id)) known.token = to.token;
      else this.#book.delete(id);
    }
    this.#sent = [];
  }

  compare(): void {
    const book = [...this.#book.values()];
    expect(this.#hand.size).toBe(book.length);
    expect(this.#hand.unstarted).toBe(book.filter(({ phase }) => phase === 'unstarted').length);
    for (const { held, phase, token } of book) {
      expect([this.#hand.holds(held), held.phase, held.token]).toEqual([true, phase, token]);
      expect(held.leaseEndMs).toBe(leaseEndOf(token));
    }
  }
}

const id = fc.constantFrom('a', 'b', 'c', 'd');
const acts = fc.oneof(
  fc.record({ act: fc.constantFrom('take', 'start', 'finish', 'drop'), id }),
  fc.record({ act: fc.constantFrom('giveBack', 'wait', 'send') }),
  fc.record({ act: fc.constant('reply'), stale: fc.uniqueArray(id) }),
);

it('Over any course of a drain the counts are those of the claims in hand, each settled under its latest token', () => {
  fc.assert(
    fc.property(fc.array(acts, { maxLength: 40, size: 'max' }), (course) => {
      const both = new Course();
      for (const step of course) {
        if ('id' in step) both[step.act](step.id);
        else if ('stale' in step) both.reply(step.stale);
        else both[step.act]();
        both.compare();
      }
    }),
    { numRuns: 2_000 },
  );
});
