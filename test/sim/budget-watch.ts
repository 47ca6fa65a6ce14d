import type { AccountLimits } from '../../lib/accounts.ts';
import type { ClaimRecord } from './claim-record.ts';
import type { Excuse } from './excuses.ts';
import type { Referee } from './referee.ts';

/** One call, from when it began: the read of a result has no claim of its own. */
interface Begun {
  /** True time, ms. */
  readonly atMs: number;
  readonly claim: ClaimRecord | undefined;
  readonly isResult: boolean;
}

type Kind = 'reads' | 'creates';

const minuteMs = 60_000;
/** What an exchange counts may begin so much later: a minute's meter reaches further back than a minute, by at least this much. */
const slackMs = 2_000;

/*
 * Counts calls as the provider would, from when they begin: never more in any minute than the account's limit, whatever
 * its meters say. The limit may be passed by the calls that an excuse is known for, and by those only.
 */
export class BudgetWatch {
  readonly #limits: AccountLimits;
  readonly #referee: Referee;
  readonly #isLive: (claim: ClaimRecord) => boolean;
  readonly #trueMs: () => number;
  readonly #begun: Record<Kind, Begun[]> = { reads: [], creates: [] };
  #meterLostAtMs = Number.NEGATIVE_INFINITY;

  /** `isLive`: the set says that the claim's lease goes on. */
  constructor(
    limits: AccountLimits,
    referee: Referee,
    given: { isLive: (claim: ClaimRecord) => boolean; trueMs: () => number },
  ) {
    this.#limits = limits;
    this.#referee = referee;
    this.#isLive = given.isLive;
    this.#trueMs = given.trueMs;
  }

  /** Redis has lost what the meters counted since some time, perhaps all of it. */
  lost(): void {
    this.#meterLostAtMs = this.#trueMs();
  }

  begin(kind: Kind, claim: ClaimRecord | undefined, isResult = false): void {
    const atMs = this.#trueMs();
    const max = this.#limits[kind === 'reads' ? 'readsPerMinute' : 'createsPerMinute'];
    if (max === null) return;
    const begun = this.#begun[kind].filter((call) => call.atMs > atMs - minuteMs);
    begun.push({ atMs, claim, isResult });
    this.#begun[kind] = begun;
    if (begun.length <= max) return;
    const excuses = begun.flatMap((call) => this.#excuseOf(kind, call) ?? []);
    const detail = `${begun.length} ${kind} in a minute of ${max}`;
    const [first] = excuses;
    const strict = begun.length - excuses.length;
    if (strict > max || first === undefined)
      this.#referee.broken(neverMore, `${detail}, ${strict} of them counted in time`);
    else this.#referee.excuse(first, detail);
  }

  #excuseOf(kind: Kind, { atMs, claim, isResult }: Begun): Excuse | null {
    if (claim === undefined || claim.voided || claim.claimedAtMs <= this.#meterLostAtMs) return 'meterLost';
    if (isResult) return claim.settledToMs === null && !this.#isLive(claim) ? 'untold' : null;
    if (claim.isAdmitted !== (kind === 'creates')) return 'otherKind';
    return atMs > claim.claimedAtMs + slackMs ? 'heldUp' : null;
  }
}

const neverMore = 'no more calls begin in a minute than the account’s limit';
