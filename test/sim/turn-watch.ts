import type { WaitingEntry } from '../../lib/ports.ts';
import type { Referee } from './referee.ts';

interface Turn {
  readonly owner: string;
  readonly priority: number;
  /** Its own owner's jobs that stood in line before it, at its priority. */
  readonly ahead: number;
  /** Of each other owner: how many at its priority were admitted for the first time while it waited. */
  readonly passed: Map<string, number>;
}

/*
 * Sees to it that owners take turns, by no rank of the set's own: while a job waits, nobody of a lower priority is admitted,
 * and of another owner no more than one for each of its own owner's that it stands behind, and two. Jobs that expire in line
 * leave their turns to their owner's next ones.
 */
export class TurnWatch {
  readonly #referee: Referee;
  /** Of those in line since they were put there, whatever has become of Redis since. */
  readonly #turns = new Map<string, Turn>();
  /** Whose they are: of all that ever stood in line. */
  readonly #known = new Map<string, Pick<WaitingEntry, 'owner' | 'priority'>>();
  /** Those that have had their turn: should they come back, it is to where they were, or to the front. */
  readonly #beenIn = new Set<string>();
  /** By owner and priority: how many have expired in line. */
  readonly #expired = new Map<string, number>();

  constructor(referee: Referee) {
    this.#referee = referee;
  }

  /** Redis has lost some of it: nobody knows any more whose turn it is. */
  lost(): void {
    this.#turns.clear();
  }

  /** `line`: who stood in it before. */
  enqueued({ id, owner, priority }: WaitingEntry, line: Iterable<string>): void {
    this.#known.set(id, { owner, priority });
    let ahead = 0;
    for (const other of line) {
      const known = this.#known.get(other);
      if (known?.owner === owner && known.priority === priority) ahead++;
    }
    this.#turns.set(id, { owner, priority, ahead, passed: new Map() });
    this.#beenIn.delete(id);
  }

  /** It leaves the line past its deadline, or because it was canceled. */
  expired(id: string): void {
    this.cameBack(id);
    const known = this.#known.get(id);
    if (known !== undefined) this.#expired.set(lineOf(known), this.#expiredOf(known) + 1);
  }

  cameBack(id: string): void {
    this.#turns.delete(id);
    this.#beenIn.add(id);
  }

  #expiredOf(of: Pick<WaitingEntry, 'owner' | 'priority'>): number {
    return this.#expired.get(lineOf(of)) ?? 0;
  }

  admitted(id: string): void {
    this.#turns.delete(id);
    const gone = this.#known.get(id);
    if (gone === undefined) return;
    const isFirstTime = !this.#beenIn.has(id);
    this.#beenIn.add(id);
    for (const [other, turn] of this.#turns) {
      if (turn.priority > gone.priority) this.#referee.broken(higherFirst, `${id} before ${other}`);
      if (!isFirstTime || turn.priority !== gone.priority || turn.owner === gone.owner) continue;
      const passed = (turn.passed.get(gone.owner) ?? 0) + 1;
      turn.passed.set(gone.owner, passed);
      if (passed <= turn.ahead + 2 + this.#expiredOf(gone)) continue;
      this.#referee.broken(inTurn, `${passed} of ${gone.owner} before ${other} of ${turn.owner}, behind ${turn.ahead}`);
    }
  }
}

function lineOf({ owner, priority }: Pick<WaitingEntry, 'owner' | 'priority'>): string {
  return `${priority} ${owner}`;
}

const higherFirst = 'a higher priority goes first';
const inTurn = 'owners take turns';
