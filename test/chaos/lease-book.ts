import type { CommandRun } from '../../infra/local/upstash-rest/upstash-rest.ts';

/*
 * Who has which job in hand, as seen between the drains and Redis: every exchange tells what it settles and what it
 * claims, and each drain has a bridge of its own.
 */

/** A claim whose reply was dropped: the job is leased, and no drain knows it. */
export interface LostClaim {
  id: string;
  atMs: number;
}

/** Where an exchange's settlements begin among the arguments of EVALSHA; see lib/due-set/exchange.lua. */
const settlementsFrom = 33;

export class LeaseBook {
  readonly lostClaims: LostClaim[] = [];
  droppedReplies = 0;
  readonly #held = new Map<string, Set<string>>();

  open(drain: string): void {
    this.#held.set(drain, new Set());
  }

  /** What the drain has in hand; forgets it. */
  close(drain: string): string[] {
    const held = [...(this.#held.get(drain) ?? [])];
    this.#held.delete(drain);
    return held;
  }

  /** Redis came back empty: nobody holds anything any more. */
  wiped(): void {
    for (const held of this.#held.values()) held.clear();
  }

  ran(drain: string, { asked, reply, answered }: CommandRun): void {
    if (!answered) this.droppedReplies++;
    const held = this.#held.get(drain);
    // Six values are what only the exchange answers.
    if (held === undefined || 'error' in asked || !Array.isArray(reply) || reply.length !== 6) return;
    const args = asked.arguments.map(String);
    for (let place = settlementsFrom; place + 2 < args.length; place += 3) {
      // A renewed lease has a fraction, a due time has none.
      if (!args[place + 2]?.includes('.')) held.delete(String(args[place]));
    }
    for (const id of texts(reply[4])) held.delete(id);
    const claims = texts(reply[3]).filter((_, index) => index % 5 === 0);
    for (const id of claims) {
      if (answered) held.add(id);
      else this.lostClaims.push({ id, atMs: Date.now() });
    }
  }
}

function texts(reply: unknown): string[] {
  return Array.isArray(reply) ? reply.map(String) : [];
}
