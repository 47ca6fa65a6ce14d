import type { Fault } from '../../lib/job.ts';
import type { Outcome } from '../../lib/outcome.ts';
import type { CancelOutcome } from '../../lib/ports.ts';
import type { Dice } from './dice.ts';

type Read = (truth: Outcome, dice: Dice) => Outcome;

const trouble = (code: string, retryAfterMs: number | null = null): Outcome => ({
  kind: 'trouble',
  fault: faultOf(code),
  retryAfterMs,
});

/** What the provider's client makes of answers that are wrong: contract/sume-hostile shows that it does. */
const readLies: Readonly<Record<string, Read>> = {
  html: () => trouble('invalid_answer'),
  wrongId: () => trouble('wrong_job'),
  unclear: () => trouble('unclear_status'),
  brokenServer: (_, dice) => trouble('http_503', dice.pick([null, 2_000, 90_000, 7_200_000])),
  notFound: () => ({ kind: 'missing', fault: faultOf('job_not_found') }),
  unauthorised: () => ({ kind: 'denied', fault: faultOf('invalid_api_key') }),
  tooMany: (_, dice) => ({
    kind: 'throttled',
    retryAfterMs: dice.pick([null, 0, 1_000, 20_000, 200_000, 5_000_000]),
    fault: faultOf('rate_limit_exceeded'),
  }),
  /** Ended, and at the next read running again. */
  endedTooSoon: (truth, dice) => {
    const as = dice.pick(['failed', 'canceled', 'expired'] as const);
    return truth.kind === 'running' ? { kind: 'ended', as, word: as, fault: faultOf('lied') } : truth;
  },
  /** Completed, and running at the next read. */
  completedTooSoon: (truth) =>
    truth.kind === 'running' ? { kind: 'completed', word: 'completed', result: null } : truth,
  noResult: (truth) => (truth.kind === 'completed' ? { ...truth, result: null } : truth),
  /** Over, but still said to run. */
  stillRunning: (truth, dice) =>
    truth.kind === 'running' || truth.kind === 'missing'
      ? truth
      : { kind: 'running', phase: dice.pick(['queued', 'processing']), word: 'warming_up', hintMs: 4_000 },
  oddHint: (truth, dice) => (truth.kind === 'running' ? { ...truth, hintMs: oddHint(dice) } : truth),
};

function oddHint(dice: Dice): number | null {
  return dice.pick([null, 0, 250, 45_000, 300_000, 599_000, 86_400_000]);
}

export class Lies {
  readonly #dice: Dice;
  readonly #cancelDice: Dice;
  readonly #chosen: readonly Read[];
  readonly #rate: number;
  #honest = false;

  constructor(dice: Dice) {
    this.#dice = dice;
    this.#cancelDice = dice.fork('cancels');
    this.#chosen = Object.values(readLies).filter(() => dice.chance(0.4));
    this.#rate = dice.chance(0.2) ? 0 : dice.spread(0.01, 0.6);
  }

  /** From now on it tells the truth. */
  stop(): void {
    this.#honest = true;
  }

  read(truth: Outcome): Outcome {
    return this.#chosen.length > 0 && this.#tells() ? this.#dice.pick(this.#chosen)(truth, this.#dice) : truth;
  }

  /** A create whose clip is made: the answer may be lost in the provider's own gateway, or tell an odd hint. */
  accepted(truth: Extract<Outcome, { kind: 'accepted' }>): Outcome {
    if (!this.#tells()) return truth;
    return this.#dice.pick([trouble('http_504'), trouble('invalid_answer'), { ...truth, hintMs: oddHint(this.#dice) }]);
  }

  /** A create that was made before. As above, or even as if it could never be made. */
  replayed(truth: Extract<Outcome, { kind: 'accepted' }>): Outcome {
    return this.#tells() ? { kind: 'refused', fault: faultOf('model_retired') } : this.accepted(truth);
  }

  /** Instead of making a clip: the key or the credit is refused, or the server fails before it has done anything. */
  turnedAway(): Outcome | null {
    if (!this.#tells()) return null;
    return this.#dice.pick([
      { kind: 'denied', fault: faultOf('insufficient_credits') },
      {
        kind: 'no_slot',
        retryAfterMs: this.#dice.pick([null, 30_000, 600_000]),
        fault: faultOf('rate_limit_exceeded'),
      },
      trouble('http_502'),
    ] as Outcome[]);
  }

  /** A cancel: the answer that is no true one, and whether it was carried out all the same; null: it is told as it is. */
  canceled(): { isDone: boolean; says: CancelOutcome } | null {
    const dice = this.#cancelDice;
    if (this.#honest || !dice.chance(this.#rate)) return null;
    const says = dice.pick<CancelOutcome>([
      { kind: 'told' },
      { kind: 'missing', fault: faultOf('job_not_found') },
      { kind: 'throttled', retryAfterMs: dice.pick([null, 1_000, 200_000]), fault: faultOf('rate_limit_exceeded') },
      { kind: 'denied', fault: faultOf('invalid_api_key') },
      { kind: 'trouble', retryAfterMs: dice.pick([null, 90_000]), fault: faultOf('http_504') },
    ]);
    return { isDone: dice.chance(0.5), says };
  }

  #tells(): boolean {
    return !this.#honest && this.#dice.chance(this.#rate);
  }
}

export function faultOf(code: string): Fault {
  return { code, message: `It was ${code}.` };
}
