import { createRequire } from 'node:module';
import { cpus } from 'node:os';
import type { BuiltFunction } from '../../infra/build.ts';
import { bundleProcesses } from './bundle-processes.ts';
import { buildAll, measureColdStart } from './cold-start.ts';
import type { ContenderName } from './contender-names.ts';
import { measureFanout } from './fanout.ts';
import { fanoutTable } from './fanout-table.ts';
import type { BenchFigures, RunFigures } from './figures.ts';
import { measureGrowth } from './growth.ts';
import type { BenchOptions } from './options.ts';
import { contendersOf, fullSize, type PollPlan, quickSize, type ScenarioName, type Size } from './plan.ts';
import { runContender } from './run-contender.ts';
import { runIdle } from './run-idle.ts';
import { runLife } from './run-life.ts';
import { runLight } from './run-light.ts';
import { type Stage, startStage } from './stage.ts';
import { growthTable, idleTable, scenarioTable, smallFigures } from './tables.ts';

export interface Told {
  /** A finished table. */
  print(text: string): void;
  /** What is being done now. */
  say(line: string): void;
}

type Polled = 'S1' | 'S2' | 'S3' | 'K1';

/** Runs what was asked for, one after the other, and tells each table when it is complete. */
export async function runScenarios(options: BenchOptions, told: Told): Promise<BenchFigures> {
  const startedAtMs = performance.now();
  const [built] = await Promise.all([buildAll(), bundleProcesses()]);
  const stage = await startStage(options);
  try {
    const bench = new Bench(stage, built, options, told);
    for (const scenario of options.scenarios) await bench.run(scenario);
    bench.figures.machine.redis = await redisVersion(stage);
    bench.figures.seconds = Math.round((performance.now() - startedAtMs) / 1000);
    return bench.figures;
  } finally {
    await stage.close();
  }
}

class Bench {
  readonly figures: BenchFigures;
  readonly #stage: Stage;
  readonly #built: readonly BuiltFunction[];
  readonly #told: Told;
  readonly #size: Size;
  readonly #profileDir: string | undefined;

  constructor(stage: Stage, built: readonly BuiltFunction[], { quick, profile, hz }: BenchOptions, told: Told) {
    this.#profileDir = profile;
    this.#stage = stage;
    this.#built = built;
    this.#told = told;
    this.#size = quick ? quickSize : fullSize;
    const machine = {
      hz,
      cores: cpus().length,
      cpu: cpus()[0]?.model ?? '',
      node: process.versions.node,
      redis: '',
      bullmq,
    };
    const nothing = { runs: [], idle: [], life: null, cold: null, growth: null, fanout: null, light: null };
    this.figures = { quick, machine, seconds: 0, ...nothing };
  }

  /** A further scenario is a further case here. */
  async run(scenario: ScenarioName): Promise<void> {
    const { steady, saturation, saturationConcurrencies, crash, kills } = this.#size;
    switch (scenario) {
      case 'S1':
        return this.#poll('S1', steady, 100);
      case 'S2':
        for (const concurrency of saturationConcurrencies) await this.#poll('S2', saturation, concurrency);
        return;
      case 'S3':
        return this.#poll('S3', crash, 100);
      case 'K1':
        return this.#poll('K1', kills, 100);
      case 'S4':
        return this.#idle();
      case 'light':
        return this.#light();
      case 'life':
        return this.#life();
      case 'cold':
        return this.#cold();
      case 'growth':
        return this.#growth();
      case 'fanout':
        return this.#fanout();
    }
  }

  async #poll(scenario: Polled, plan: PollPlan, concurrency: number): Promise<void> {
    const runs: RunFigures[] = [];
    for (const contender of contendersOf[scenario]) {
      // Ten at a time is all that it does: a second run would say the same.
      if (contender === 'zrem-loop' && concurrency > 100) continue;
      this.#told.say(`${scenario} ${contender}, ${concurrency} at a time`);
      const drainBundle = this.#bundle('drain').bundlePath;
      runs.push(
        await runContender(this.#stage, {
          scenario,
          contender,
          concurrency,
          plan,
          drainBundle,
          profileDir: this.#profileDir,
        }),
      );
    }
    this.figures.runs.push(...runs);
    this.#told.print(scenarioTable(runs));
  }

  async #idle(): Promise<void> {
    const { seconds, jobs } = this.#size.idle;
    this.#told.say(`S4 all contenders, ${seconds} s`);
    const cases = contendersOf.S4.flatMap((contender): [ContenderName, number][] => [
      [contender, 0],
      [contender, jobs],
    ]);
    const drainBundle = this.#bundle('drain').bundlePath;
    this.figures.idle = await Promise.all(
      cases.map(([contender, waiting]) => runIdle(this.#stage, { contender, waiting, seconds, drainBundle })),
    );
    this.#told.print(idleTable(this.figures.idle));
  }

  async #light(): Promise<void> {
    this.#told.say('light');
    const drainBundle = this.#bundle('drain').bundlePath;
    this.figures.light = await runLight(this.#stage, { seconds: this.#size.lightSeconds, drainBundle });
    this.#told.print(smallFigures({ life: null, cold: null, light: this.figures.light }));
  }

  async #life(): Promise<void> {
    this.#told.say('life');
    const [drainBundle, apiBundle] = [this.#bundle('drain').bundlePath, this.#bundle('api').bundlePath];
    this.figures.life = await runLife(this.#stage, { jobs: 20, drainBundle, apiBundle });
    this.#told.print(smallFigures({ life: this.figures.life, cold: null, light: null }));
  }

  async #cold(): Promise<void> {
    this.#told.say('cold start');
    this.figures.cold = await measureColdStart(this.#built, this.#size.coldStartRuns);
    this.#told.print(smallFigures({ life: null, cold: this.figures.cold, light: null }));
  }

  async #growth(): Promise<void> {
    const built = { drain: this.#bundle('drain'), sweep: this.#bundle('sweep') };
    this.figures.growth = await measureGrowth(this.#stage, built, this.#size.growth, this.#told.say);
    this.#told.print(growthTable(this.figures.growth));
  }

  async #fanout(): Promise<void> {
    const drainBundle = this.#bundle('drain').bundlePath;
    this.figures.fanout = await measureFanout(this.#stage, drainBundle, this.#size.fanout, this.#told.say);
    this.#told.print(fanoutTable(this.figures.fanout));
  }

  #bundle(name: string): BuiltFunction {
    const found = this.#built.find((one) => one.name === name);
    if (found === undefined) throw new Error(`The function ${name} was not built.`);
    return found;
  }
}

const { version: bullmq } = createRequire(import.meta.url)('bullmq/package.json') as { version: string };

async function redisVersion(stage: Stage): Promise<string> {
  const info = String(await stage.redis.meter.command('INFO', 'server'));
  return /^redis_version:(\S+)/m.exec(info)?.[1] ?? 'unknown';
}
