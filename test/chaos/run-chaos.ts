import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { dueSetKeys } from '../../lib/due-set/keys.ts';
import { ApiHosts } from './api-hosts.ts';
import { Client } from './client.ts';
import { Drains } from './drains.ts';
import type { ChaosFigures } from './figures.ts';
import { type Evidence, judge, type ProviderReport } from './judge.ts';
import type { ProviderCall } from './messages.ts';
import type { ChaosOptions } from './options.ts';
import { type ChaosPlan, chosen, makePlan, type PlannedKill, type Victim } from './plan.ts';
import { ProviderFaults } from './provider-faults.ts';
import { productStage, Stage } from './stage.ts';
import { Sweeps } from './sweeps.ts';
import { findTruth, isActiveState, providerJobs } from './truth.ts';

export interface ChaosRequest {
  options: ChaosOptions;
  say: (line: string) => void;
  /** Ends the run; it then rejects, with everything stopped. */
  signal: AbortSignal;
}

/** Share of the bridge's replies that are dropped after the command was run. */
const droppedShare = 0.03;
/** After the last kill, what is left has so long to end: the provider's faults are followed by waits of minutes. */
const tailMaxMs = { full: 480_000, quick: 120_000 };
const lookEveryMs = 1_000;
const sayEveryMs = 10_000;
/** A dead drain's lease on an ended job, and the tick that takes it out of the set. */
const emptiedWithinMs = 20_000;
const redisAwayMaxMs = 2_000;
/** A render that ends sooner by itself is left alone. */
const endingMarginMs = 1_000;

/** Runs the whole; everything that was started is ended when it resolves or rejects. */
export async function runChaos(request: ChaosRequest): Promise<ChaosFigures & { logDir: string }> {
  const run: { current?: Run } = {};
  const stage = await Stage.start(request.options, (event) => run.current?.drains.invoke(event));
  let ok = false;
  try {
    request.signal.throwIfAborted();
    run.current = new Run(request, stage, await ApiHosts.start(stage));
    const figures = await run.current.work();
    ok = figures.ok;
    return { ...figures, logDir: stage.logDir };
  } finally {
    await stage.close(!ok && !request.signal.aborted);
  }
}

class Run {
  readonly drains: Drains;
  readonly #options: ChaosOptions;
  readonly #say: (line: string) => void;
  readonly #signal: AbortSignal;
  readonly #stage: Stage;
  readonly #plan: ChaosPlan;
  readonly #api: ApiHosts;
  readonly #client: Client;
  readonly #sweeps: Sweeps;
  readonly #faults: ProviderFaults;
  readonly #killed: Record<Victim, number> = { drain: 0, sweep: 0, api: 0, redis: 0 };
  readonly #startedAtMs = performance.now();

  constructor({ options, say, signal }: ChaosRequest, stage: Stage, api: ApiHosts) {
    this.#options = options;
    this.#say = say;
    this.#signal = signal;
    this.#stage = stage;
    this.#plan = makePlan(options);
    this.#api = api;
    this.#client = new Client(api, options.seed, signal);
    this.drains = new Drains(stage);
    this.#sweeps = new Sweeps(stage, signal);
    this.#faults = new ProviderFaults(stage.control);
  }

  async work(): Promise<ChaosFigures> {
    await this.#faults.begin(this.#options.quick);
    await this.#stage.redis.dropReplies(droppedShare);
    this.drains.begin();
    const broken = Promise.race([this.#stage.broken, this.#sweeps.run()]);
    broken.catch(() => {});
    const saying = setInterval(() => void this.#tell().catch(() => {}), sayEveryMs);
    try {
      await Promise.race([this.#trouble(), broken]);
      await this.#faults.end();
      await this.#stage.redis.dropReplies(0);
      this.#say('Nothing is killed or struck any more; what is left comes to its end.');
      await Promise.race([this.#untilEnded(), broken]);
      return await this.#judge();
    } finally {
      clearInterval(saying);
      this.#sweeps.stop();
      this.drains.stop();
    }
  }

  /** Everything that the plan has, each at its time. */
  async #trouble(): Promise<void> {
    const { submitsAtMs, kills, bursts, endings } = this.#plan;
    // Kills come one after the other: the next waits until the one before is done.
    let killing = Promise.resolve();
    const killNext = (kill: PlannedKill) => {
      killing = killing.then(() => this.#kill(kill));
      return killing;
    };
    await Promise.all([
      ...submitsAtMs.map((atMs, job) => this.#at(atMs, () => this.#client.submit(job))),
      ...kills.map((kill) => this.#at(kill.atMs, () => killNext(kill))),
      ...bursts.map((burst) => this.#at(burst.atMs, () => this.#faults.burst(burst))),
      ...endings.map((ending) => this.#at(ending.atMs, () => this.#endOne(ending))),
    ]);
  }

  async #at(atMs: number, act: () => Promise<void>): Promise<void> {
    await sleep(atMs, undefined, { signal: this.#signal });
    await act();
  }

  async #kill(kill: PlannedKill): Promise<void> {
    // The one that was meant may end by itself at that very moment.
    for (let tries = 0; tries < 50 && !(await this.#killOnce(kill)); tries++) await sleep(100);
  }

  async #killOnce({ victim, which, pause }: PlannedKill): Promise<boolean> {
    const done = await this.#killers[victim](which, pause);
    if (done) this.#killed[victim]++;
    return done;
  }

  readonly #killers: Record<Victim, (which: number, pause: number) => Promise<boolean>> = {
    drain: (which) => this.drains.kill(which),
    sweep: (_, pause) => this.#sweeps.kill(pause),
    api: (_, pause) => this.#api.kill(pause),
    redis: async (_, pause) => {
      await this.#stage.redis.killAndRestart(pause * redisAwayMaxMs);
      return true;
    },
  };

  /** The provider ends a running job by itself. One that is just about to end is left alone: both ends would be told. */
  async #endOne({ state, which }: ChaosPlan['endings'][number]): Promise<void> {
    const soonMs = Date.now() + endingMarginMs;
    const running = (await providerJobs(this.#stage.control)).filter(
      (job) => isActiveState(job.state) && (job.endsAtMs ?? Number.POSITIVE_INFINITY) > soonMs,
    );
    if (running.length > 0) await this.#stage.control.post(`jobs/${chosen(running, which).id}`, { state });
  }

  async #untilEnded(): Promise<void> {
    const deadlineMs = performance.now() + tailMaxMs[this.#options.quick ? 'quick' : 'full'];
    while (performance.now() < deadlineMs && (await this.#countEnded()) < this.#client.accepted.size) {
      await sleep(lookEveryMs, undefined, { signal: this.#signal });
    }
  }

  async #countEnded(): Promise<number> {
    const states = await this.#client.states();
    return [...states.values()].filter((state) => !isActiveState(state)).length;
  }

  /** What stays in the due set once every job has ended; there should be nothing. */
  async #leftInSet(): Promise<string[]> {
    const { due } = dueSetKeys(productStage, 'sume');
    for (const endMs = performance.now() + emptiedWithinMs; ; ) {
      const ids = await this.#stage.redis.idsIn(due);
      if (ids.length === 0 || performance.now() > endMs) return ids;
      await sleep(200, undefined, { signal: this.#signal });
    }
  }

  async #judge(): Promise<ChaosFigures> {
    const inSet = await this.#leftInSet();
    const truth = await findTruth(this.#client, this.#stage.control);
    for (const line of [...truth.wrong, ...truth.absent, ...truth.twice]) this.#say(`Wrong: ${line}`);
    const { calls } = await this.#stage.provider.ask<{ calls: ProviderCall[] }>({ kind: 'calls' });
    const { redis, control } = this.#stage;
    const { ended, sums, kills, leftBehind } = this.drains;
    const evidence: Evidence = {
      ...{ wanted: this.#options, truth, calls, inSet, killed: this.#killed, drainKills: kills },
      provider: await control.get<ProviderReport>('report'),
      redis: { lostClaims: redis.book.lostClaims, wipesAtMs: redis.wipesAtMs },
      client: { accepted: this.#client.accepted.size, split: this.#client.split.size, retries: this.#client.retries },
      faults: {
        ...this.#faults.struck,
        bridgeReplyDropped: redis.book.droppedReplies,
        apiAnswerLost: this.#api.lostAnswers,
      },
      functions: {
        drainsEnded: ended,
        drains: { ...sums, leftBehind },
        sweeps: this.#sweeps.ran,
        restored: this.#sweeps.restored,
      },
      seconds: Math.round((performance.now() - this.#startedAtMs) / 100) / 10,
    };
    writeFileSync(join(this.#stage.logDir, 'evidence.json'), JSON.stringify(evidence));
    return judge(evidence);
  }

  async #tell(): Promise<void> {
    const ended = await this.#countEnded();
    const kills = Object.values(this.#killed).reduce((sum, one) => sum + one, 0);
    const { jobs, kills: wanted } = this.#options;
    const sofar = `${this.#client.accepted.size} of ${jobs} jobs accepted, ${ended} ended; ${kills} of ${wanted} kills`;
    this.#say(`${sofar}; ${this.drains.running} drains run.`);
  }
}
