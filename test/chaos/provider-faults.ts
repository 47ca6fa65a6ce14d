import type { Fault } from '../../infra/local/sume-simulator/control/faults.ts';
import type { ProviderControl } from './provider-control.ts';

/*
 * How the provider fails and lies. Left out are lies that nobody could see through: another job's id in the answer to a
 * create, and a verdict that is not true.
 */

type Route = 'status' | 'create' | 'result';
interface Trouble {
  /** How it is counted. */
  kind: string;
  fault: Fault;
  afterEffect?: true;
  /** Chance to strike one request of each kind. */
  share: Partial<Record<Route, number>>;
  /** Pollkeeper goes on at once, or within two seconds. */
  brief?: true;
}

export interface FaultBurst {
  kind: string;
  route: Route;
  fault: Fault;
  /** So many requests in a row. */
  count: number;
}

const html503: Fault = { kind: 'error', status: 503, html: true };
const html504: Fault = { ...html503, status: 504 };
const tooFast: Fault = { kind: 'error', status: 429, retryAfter: 1 };
const json = (body: object): Fault => ({ kind: 'answer', body: JSON.stringify(body) });

const troubles: readonly Trouble[] = [
  { kind: 'tooFast', fault: tooFast, share: { status: 0.015, create: 0.02 }, brief: true },
  {
    kind: 'late',
    fault: { kind: 'delay', ms: 2_500 },
    share: { status: 0.015, create: 0.02, result: 0.02 },
    brief: true,
  },
  { kind: 'deadSocket', fault: { kind: 'reset-before-effect' }, share: { status: 0.01 }, brief: true },
  { kind: 'lostReply', fault: { kind: 'reset-after-effect' }, share: { status: 0.01, create: 0.03, result: 0.02 } },
  { kind: 'serverError', fault: { kind: 'error', status: 500 }, share: { status: 0.004, create: 0.02, result: 0.01 } },
  { kind: 'html', fault: html503, share: { status: 0.004, create: 0.02, result: 0.01 } },
  { kind: 'refusedConnection', fault: { kind: 'reset-before-effect' }, share: { create: 0.03 } },
  { kind: 'gatewayTimeout', fault: html504, afterEffect: true, share: { create: 0.02 } },
  { kind: 'hang', fault: { kind: 'hang' }, afterEffect: true, share: { status: 0.003, create: 0.01, result: 0.005 } },
  { kind: 'stall', fault: { kind: 'stalled-body' }, share: { status: 0.003, create: 0.005 } },
  { kind: 'cutOff', fault: { kind: 'cut-off-json' }, share: { status: 0.003, create: 0.01, result: 0.005 } },
  { kind: 'empty', fault: { kind: 'empty-body' }, share: { status: 0.002, create: 0.01 } },
  { kind: 'malformed', fault: { kind: 'malformed-json' }, share: { status: 0.002, result: 0.01 } },
  { kind: 'wrongId', fault: { kind: 'wrong-id' }, share: { status: 0.005, result: 0.01 } },
  { kind: 'notFound', fault: { kind: 'error', status: 404 }, share: { status: 0.002 } },
  { kind: 'denied', fault: { kind: 'error', status: 401 }, share: { status: 0.001, create: 0.005 } },
  { kind: 'lie', fault: json({ status: 'completed', terminal: true }), share: { status: 0.003 } },
  { kind: 'lie', fault: json({ status: 'processing', terminal: true }), share: { status: 0.002 } },
];

const bursts: readonly (FaultBurst & { brief?: true })[] = [
  { kind: 'tooFast', route: 'status', fault: tooFast, count: 20, brief: true },
  { kind: 'tooFast', route: 'create', fault: tooFast, count: 5, brief: true },
  { kind: 'late', route: 'create', fault: { kind: 'delay', ms: 4_000 }, count: 5, brief: true },
  { kind: 'html', route: 'status', fault: html503, count: 15 },
  { kind: 'lostReply', route: 'create', fault: { kind: 'reset-after-effect' }, count: 8 },
  { kind: 'hang', route: 'status', fault: { kind: 'hang' }, count: 6 },
  { kind: 'serverError', route: 'result', fault: { kind: 'error', status: 500 }, count: 6 },
];

export function faultBursts(quick: boolean): FaultBurst[] {
  return bursts.filter(({ brief }) => !quick || brief).map(({ brief: _, ...burst }) => burst);
}

/** The faults of one run: what the provider is told to do wrong, and what became of it. */
export class ProviderFaults {
  readonly #control: ProviderControl;
  /** How each rule is counted, in the order in which they were given. */
  readonly #kinds: string[] = [];
  readonly #struck: Record<string, number> = {};

  constructor(control: ProviderControl) {
    this.#control = control;
  }

  /** Rare faults from now on, at any time. */
  async begin(quick: boolean): Promise<void> {
    for (const { kind, fault, afterEffect, share, brief } of troubles) {
      if (quick && !brief) continue;
      for (const [route, probability] of Object.entries(share)) {
        await this.#add(kind, { ...fault, route, probability, ...(afterEffect && { afterEffect }) });
      }
    }
  }

  burst({ kind, route, fault, count }: FaultBurst): Promise<void> {
    return this.#add(kind, { ...fault, route, count });
  }

  /** None from now on. */
  async end(): Promise<void> {
    const { rules } = await this.#control.get<{ rules: { struck: number }[] }>('faults');
    rules.forEach(({ struck }, index) => {
      const kind = this.#kinds[index] ?? 'unknown';
      this.#struck[kind] = (this.#struck[kind] ?? 0) + struck;
    });
    this.#kinds.length = 0;
    await this.#control.clearFaults();
  }

  /** How many requests were struck, by kind; whole once `end` is done. */
  get struck(): Record<string, number> {
    return { ...this.#struck };
  }

  async #add(kind: string, rule: object): Promise<void> {
    // The list of kinds must keep to the order of the rules.
    this.#kinds.push(kind);
    await this.#control.post('faults', rule);
  }
}
