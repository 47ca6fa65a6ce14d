import type { Dice } from './dice.ts';
import type { Lambda } from './lambda.ts';

/** Where a call of a port goes. Reads and writes of the record fail apart: DynamoDB throttles them apart. */
export type Route = MainRoute | keyof typeof likes;

type MainRoute = 'dueSet' | 'storeRead' | 'storeWrite' | 'create' | 'read' | 'wake';

/** Routes that share the fate of another, with dice of their own: the set of events is in the same Redis, for one. */
const likes = { events: 'dueSet', cancel: 'read', webhook: 'read' } as const satisfies Record<string, MainRoute>;

function mainOf(route: Route): MainRoute {
  return route in likes ? likes[route as keyof typeof likes] : (route as MainRoute);
}

/** What happens to one call on its way. All times in ms. */
export interface Trip {
  /** Until it is carried out; null: it is lost before. */
  outMs: number | null;
  /** Until it is carried out once more, by a client that repeats: that answer counts. */
  againMs: number | null;
  /** From there until the answer is back; null: the answer is lost. */
  backMs: number | null;
  /** Without an answer the caller hears of the broken connection after this; null: it waits for its own time limit. */
  brokenAfterMs: number | null;
  /** Its process dies: before it has sent the call, while it waits, or when the answer comes. */
  crash: 'before' | 'meanwhile' | 'after' | null;
}

const faultKinds = ['crash', 'refused', 'lost', 'lostReply', 'late', 'twice', 'slow', 'stall'] as const;
type FaultKind = (typeof faultKinds)[number];

/** Usual times of one way, ms: from, to. */
const ways: Readonly<Record<MainRoute, readonly [number, number]>> = {
  dueSet: [0.4, 12],
  storeRead: [1, 8],
  storeWrite: [2, 12],
  create: [40, 600],
  read: [20, 300],
  wake: [2, 30],
};

export class Weather {
  readonly #dice: Dice;
  readonly #nowMs: () => number;
  readonly #rates: ReadonlyMap<FaultKind, Rates>;
  readonly #likeDice: Readonly<Record<keyof typeof likes, Dice>>;
  readonly #stormsUntilMs = new Map<MainRoute, number>();
  readonly #slowUntilMs = new Map<MainRoute, number>();
  readonly #cutOffUntilMs = new Map<Lambda, number>();
  #limitUntilMs = 0;
  #calm = false;

  /** `nowMs` is the world's time. */
  constructor(dice: Dice, nowMs: () => number) {
    this.#dice = dice;
    this.#likeDice = { events: dice.fork('events'), cancel: dice.fork('cancel'), webhook: dice.fork('webhook') };
    this.#nowMs = nowMs;
    this.#rates = new Map(faultKinds.map((kind) => [kind, ratesOf(kind, dice)]));
  }

  /** From now on nothing fails any more. */
  calmDown(): void {
    this.#calm = true;
  }

  get isCalm(): boolean {
    return this.#calm;
  }

  /** No call comes through on these routes for a while. */
  storm(routes: readonly MainRoute[], forMs: number): void {
    for (const route of routes) this.#stormsUntilMs.set(route, this.#nowMs() + forMs);
  }

  /** Calls on these routes come through, but nearly too late. */
  slowDown(routes: readonly MainRoute[], forMs: number): void {
    for (const route of routes) this.#slowUntilMs.set(route, this.#nowMs() + forMs);
  }

  /** This process alone does not reach Redis for a while. */
  cutOff(by: Lambda, forMs: number): void {
    this.#cutOffUntilMs.set(by, this.#nowMs() + forMs);
  }

  /** Redis refuses every call for a while, since its plan is used up. */
  useUpPlan(forMs: number): void {
    this.storm(['dueSet'], forMs);
    this.#limitUntilMs = this.#nowMs() + forMs;
  }

  get isPlanUsedUp(): boolean {
    return !this.#calm && this.#limitUntilMs > this.#nowMs();
  }

  /** How long a process stands still, ms. */
  stallMs(): number {
    return this.#dice.spread(100, 40_000);
  }

  /** Whether a deadly job is deadly this time. */
  kills(): boolean {
    return !this.#calm && this.#dice.chance(0.8);
  }

  strikes(kind: FaultKind, route: Route): boolean {
    return !this.#calm && this.#diceOf(route).chance(this.#rates.get(kind)?.[mainOf(route)] ?? 0);
  }

  /** `timeoutMs` is the caller's patience. */
  trip(by: Lambda, route: Route, timeoutMs: number): Trip {
    const dice = this.#diceOf(route);
    const main = mainOf(route);
    const way = () => dice.between(...ways[main]);
    const trip: Trip = {
      outMs: way(),
      againMs: null,
      backMs: way(),
      brokenAfterMs: null,
      crash: this.strikes('crash', route) ? dice.pick(['before', 'meanwhile', 'after']) : null,
    };
    if (this.#isOn(this.#slowUntilMs, main)) trip.outMs = dice.between(0.2, 1.1) * timeoutMs;
    if (this.strikes('slow', route)) trip.outMs = dice.spread(10, timeoutMs);
    if (this.strikes('slow', route)) trip.backMs = dice.spread(10, timeoutMs);
    // Only the AWS client repeats a call by itself.
    const repeats = this.strikes('twice', route) && (route === 'storeRead' || route === 'storeWrite');
    if (repeats) trip.againMs = dice.spread(5, 4_000);
    const isAway = this.#isOn(this.#stormsUntilMs, main) || (main === 'dueSet' && this.#isOn(this.#cutOffUntilMs, by));
    if (isAway) Object.assign(trip, { outMs: null, brokenAfterMs: dice.spread(1, 2 * timeoutMs) });
    else if (this.strikes('refused', route)) Object.assign(trip, { outMs: null, brokenAfterMs: way() });
    else if (this.strikes('lost', route)) trip.outMs = null;
    else if (this.strikes('lostReply', route)) loseReply(trip, timeoutMs, dice);
    else if (this.strikes('late', route)) delay(trip, timeoutMs, dice);
    return trip;
  }

  #diceOf(route: Route): Dice {
    return route in likes ? this.#likeDice[route as keyof typeof likes] : this.#dice;
  }

  #isOn<K>(untilMs: ReadonlyMap<K, number>, what: K): boolean {
    return !this.#calm && (untilMs.get(what) ?? 0) > this.#nowMs();
  }
}

/** Carried out when the caller has long given up, and perhaps sent it again. */
function delay(trip: Trip, timeoutMs: number, dice: Dice): void {
  const brokenAfterMs = dice.spread(1, timeoutMs);
  const givenUpAfterMs = dice.chance(0.5) ? brokenAfterMs : timeoutMs;
  Object.assign(trip, { brokenAfterMs: givenUpAfterMs, outMs: givenUpAfterMs + dice.spread(1, 30_000) });
}

function loseReply(trip: Trip, timeoutMs: number, dice: Dice): void {
  trip.backMs = null;
  if (dice.chance(0.5)) trip.brokenAfterMs = (trip.outMs ?? 0) + dice.spread(1, timeoutMs);
}

/** How often a fault strikes, parts of 1 of the calls on each route. */
type Rates = Readonly<Partial<Record<MainRoute, number>>>;

const routes = Object.keys(ways) as MainRoute[];

/** Half of the seeds do not know a fault at all, a quarter everywhere, a quarter on one route, and there all the more. */
function ratesOf(kind: FaultKind, dice: Dice): Rates {
  const max = maxRates[kind];
  if (dice.chance(0.5)) return {};
  if (dice.chance(0.5)) return { [dice.pick(routes)]: dice.spread(max / 4, 3 * max) };
  const everywhere = dice.spread(0.002, max);
  return Object.fromEntries(routes.map((route) => [route, everywhere]));
}

/** The highest rate of each; a crash ends a whole process, so it is rare however bad the weather. */
const maxRates: Readonly<Record<FaultKind, number>> = {
  crash: 0.02,
  refused: 0.2,
  lost: 0.1,
  lostReply: 0.15,
  late: 0.1,
  twice: 0.2,
  slow: 0.2,
  stall: 0.01,
};
