import type { Dice } from './dice.ts';
import type { Lambda } from './lambda.ts';

/** Where a call of a port goes. Reads and writes of the record fail apart: DynamoDB throttles them apart. */
export type Route = 'dueSet' | 'storeRead' | 'storeWrite' | 'create' | 'read' | 'wake';

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
const ways: Readonly<Record<Route, readonly [number, number]>> = {
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
  readonly #stormsUntilMs = new Map<Route, number>();
  readonly #slowUntilMs = new Map<Route, number>();
  readonly #cutOffUntilMs = new Map<Lambda, number>();
  #limitUntilMs = 0;
  #calm = false;

  /** `nowMs` is the world's time. */
  constructor(dice: Dice, nowMs: () => number) {
    this.#dice = dice;
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
  storm(routes: readonly Route[], forMs: number): void {
    for (const route of routes) this.#stormsUntilMs.set(route, this.#nowMs() + forMs);
  }

  /** Calls on these routes come through, but nearly too late. */
  slowDown(routes: readonly Route[], forMs: number): void {
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
    return !this.#calm && this.#dice.chance(this.#rates.get(kind)?.[route] ?? 0);
  }

  /** `timeoutMs` is the caller's patience. */
  trip(by: Lambda, route: Route, timeoutMs: number): Trip {
    const trip: Trip = {
      outMs: this.#way(route),
      againMs: null,
      backMs: this.#way(route),
      brokenAfterMs: null,
      crash: this.strikes('crash', route) ? this.#dice.pick(['before', 'meanwhile', 'after']) : null,
    };
    if (this.#isOn(this.#slowUntilMs, route)) trip.outMs = this.#dice.between(0.2, 1.1) * timeoutMs;
    if (this.strikes('slow', route)) trip.outMs = this.#dice.spread(10, timeoutMs);
    if (this.strikes('slow', route)) trip.backMs = this.#dice.spread(10, timeoutMs);
    if (this.strikes('twice', route)) this.#repeat(trip, route);
    const isAway =
      this.#isOn(this.#stormsUntilMs, route) || (route === 'dueSet' && this.#isOn(this.#cutOffUntilMs, by));
    if (isAway) Object.assign(trip, { outMs: null, brokenAfterMs: this.#dice.spread(1, 2 * timeoutMs) });
    else if (this.strikes('refused', route)) Object.assign(trip, { outMs: null, brokenAfterMs: this.#way(route) });
    else if (this.strikes('lost', route)) trip.outMs = null;
    else if (this.strikes('lostReply', route)) this.#loseReply(trip, timeoutMs);
    else if (this.strikes('late', route)) this.#delay(trip, timeoutMs);
    return trip;
  }

  #isOn<K>(untilMs: ReadonlyMap<K, number>, what: K): boolean {
    return !this.#calm && (untilMs.get(what) ?? 0) > this.#nowMs();
  }

  /** Only the AWS client repeats a call by itself. */
  #repeat(trip: Trip, route: Route): void {
    if (route === 'storeRead' || route === 'storeWrite') trip.againMs = this.#dice.spread(5, 4_000);
  }

  /** Carried out when the caller has long given up, and perhaps sent it again. */
  #delay(trip: Trip, timeoutMs: number): void {
    const brokenAfterMs = this.#dice.spread(1, timeoutMs);
    const givenUpAfterMs = this.#dice.chance(0.5) ? brokenAfterMs : timeoutMs;
    Object.assign(trip, { brokenAfterMs: givenUpAfterMs, outMs: givenUpAfterMs + this.#dice.spread(1, 30_000) });
  }

  #loseReply(trip: Trip, timeoutMs: number): void {
    trip.backMs = null;
    if (this.#dice.chance(0.5)) trip.brokenAfterMs = (trip.outMs ?? 0) + this.#dice.spread(1, timeoutMs);
  }

  #way(route: Route): number {
    const [least, most] = ways[route];
    return this.#dice.between(least, most);
  }
}

/** How often a fault strikes, parts of 1 of the calls on each route. */
type Rates = Readonly<Partial<Record<Route, number>>>;

const routes = Object.keys(ways) as Route[];

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
