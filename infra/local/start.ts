/** `npm start`: see the help text in console/options.ts. Exit code 0, 1 (not every clip completed, or a fault) or 2 (it can't be run like this). */
import { accessSync, constants, mkdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { incompleteLine, summaryLines, tryLines } from './console/closing-lines.ts';
import { eventLine } from './console/event-line.ts';
import { helpText, readOptions, type StartOptions, UsageError } from './console/options.ts';
import { openScreen, type Screen } from './console/screen.ts';
import { StopRequest } from './console/stop-request.ts';
import { ApiClient } from './demo/api-client.ts';
import { demoPriceUsd } from './demo/clips.ts';
import { type Counters, type Figures, measuredBetween, readCounters } from './demo/measure.ts';
import { DemoRun } from './demo/run.ts';
import { takeLock } from './lock/take-lock.mjs';
import { Stack } from './stack/stack.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** A job that the due set has lost comes back with the next sweep, five minutes later at most, and is then worked. */
const longestRepairMs = 420_000;

/** One run, from the first part's start to the last one's end. */
class Session {
  readonly #options: StartOptions;
  readonly #screen: Screen;
  readonly #stop: StopRequest;
  readonly #stack: Stack;
  #run: DemoRun | undefined;
  #before: Counters | undefined;
  #figures: Figures | undefined;
  #ok = true;

  constructor(options: StartOptions, stop: StopRequest) {
    this.#options = options;
    this.#stop = stop;
    this.#screen = openScreen(options.json ? process.stderr : process.stdout);
    this.#stack = new Stack(options, process.env, (event) => {
      if (stop.reason === undefined || event.kind === 'given-up') this.#screen.line(eventLine(event));
      if (event.kind === 'given-up') stop.stop({ asked: false, line: `See ${this.#logs()}.` });
    });
  }

  /** Resolves with the exit code. */
  async work(): Promise<number> {
    const jobs = this.#jobsToSend();
    try {
      const starting = this.#stack.start();
      await Promise.race([starting, this.#stop.stopped()]);
      if (this.#stop.reason === undefined) await this.#demo(jobs);
      // A part that is just coming up is waited for a moment, so that it is stopped in order too.
      else await Promise.race([starting.catch(() => {}), sleep(1_500)]);
    } catch (error) {
      if (error instanceof UsageError) throw error;
      if (this.#stop.reason === undefined) this.#fail(error instanceof Error ? error.message : String(error));
    } finally {
      await this.#end();
    }
    return this.#ok ? 0 : 1;
  }

  async #demo(jobs: number): Promise<void> {
    const { once, timeScale } = this.#options;
    const client = new ApiClient({
      url: () => this.#stack.apiUrl,
      token: this.#stack.keys.apiToken,
      signal: this.#stop.signal,
    });
    const screen = this.#screen;
    const limit = once ? { limitMs: longestRepairMs + ((6_000 * 15) / timeScale) * jobs } : {};
    const run = new DemoRun({ client, screen, signal: this.#stop.signal, ...limit });
    this.#run = run;
    this.#before = await readCounters(this.#stack.parts, this.#stack.keys.redisToken);
    await run.resume();
    // A submit wakes a drain only if it finds nothing due, and an earlier run that was cut short may have left something.
    await this.#stack.wake();
    if (!once)
      for (const line of ['', ...tryLines(this.#stack.apiUrl, this.#stack.keys.apiToken), '']) screen.line(line);
    screen.line(`  Logs are in ${this.#logs()}; what the functions say is in gateway.log.`);
    if (jobs > 0) screen.line(`  Sending ${jobs} demo clips.`);
    const fault = await run.run(jobs);
    await this.#count();
    if (this.#figures !== undefined && this.#figures.submitted > 0) {
      for (const line of summaryLines(this.#figures)) screen.line(line);
    }
    if (fault !== undefined) this.#fail(fault);
    const incomplete = run.follower.incomplete();
    if (once && incomplete.length > 0) this.#fail(incompleteLine(incomplete));
    if (once || this.#stop.reason !== undefined) return;
    screen.line('  Up until Ctrl-C.');
    await this.#stop.stopped();
  }

  /** How many clips to send. A provider that is not on this machine may bill them, so they must have been asked for. */
  #jobsToSend(): number {
    const { demo, jobs, jobsGiven, once } = this.#options;
    if (!demo) return 0;
    if (this.#stack.given.sume === undefined || this.#stack.given.sume.onThisMachine || jobsGiven) return jobs;
    const line = `SUME_API_BASE_URL is not on this machine: ${jobs} demo clips may be billed, about $${demoPriceUsd(jobs).toFixed(2)}.`;
    if (once) throw new UsageError(`${line} Say how many with --jobs N.`);
    this.#screen.line(`  ${line} None is sent; --jobs N sends N.`);
    return 0;
  }

  async #count(): Promise<void> {
    const lost = (await this.#run?.follower.findLost().catch(() => [])) ?? [];
    const tally = this.#run?.follower.tally();
    const after = await readCounters(this.#stack.parts, this.#stack.keys.redisToken);
    this.#figures = {
      submitted: tally?.total ?? 0,
      completed: tally?.completed ?? 0,
      failed: tally?.failed ?? 0,
      lost: lost.length,
      ...measuredBetween(this.#before, after),
      wallSeconds: wallSeconds(this.#run?.elapsedMs),
    };
  }

  async #end(): Promise<void> {
    const { once, json, dataDir } = this.#options;
    const reason = this.#stop.reason;
    if (reason?.asked === false) this.#fail(reason.line);
    if (reason?.asked && once) this.#fail('Stopped before every clip was done.');
    if (json && (this.#figures === undefined || reason !== undefined)) await Promise.race([this.#count(), sleep(500)]);
    // For whatever comes from now on, such as a second Ctrl-C: the parts are being stopped already.
    this.#stop.stop({ asked: true });
    if (!once || reason !== undefined) this.#screen.line('  Stopping …');
    await Promise.race([this.#stack.close(), sleep(4_500)]);
    this.#screen.line(`  Stopped. What is stored stays in ${relative(process.cwd(), dataDir) || '.'}/.`);
    if (json) process.stdout.write(`${JSON.stringify(this.#figures ?? noFigures())}\n`);
  }

  #fail(line: string): void {
    this.#ok = false;
    this.#screen.line(`  ${line}`);
  }

  #logs(): string {
    return `${relative(process.cwd(), this.#stack.logDir)}/`;
  }
}

/** When nothing could be counted: the stack never came up, or did not answer any more. */
function noFigures(): Figures {
  const counts = { submitted: 0, completed: 0, failed: 0, lost: 0 };
  return { ...counts, ...measuredBetween(undefined, undefined), wallSeconds: wallSeconds() };
}

function wallSeconds(elapsedMs = performance.now()): number {
  return Math.floor(elapsedMs / 100) / 10;
}

function makeDataDir(dataDir: string): void {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    accessSync(dataDir, constants.R_OK | constants.W_OK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new UsageError(
      `--data-dir ${dataDir} can't be used (${code}); name a folder that can be made and written to.`,
    );
  }
}

async function start(argv: readonly string[]): Promise<number> {
  const options = readOptions(argv, root);
  if (options.help) {
    process.stdout.write(helpText);
    return 0;
  }
  makeDataDir(options.dataDir);
  const lock = takeLock(join(options.dataDir, 'start.lock'));
  if (!lock.taken) {
    const where = relative(process.cwd(), options.dataDir) || '.';
    throw new UsageError(
      `Already running here (process ${lock.holderPid}): stop it first, or use another --data-dir than ${where}.`,
    );
  }
  // The AWS SDK's warning about Node versions to come is of no use to the user here.
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true';
  const stop = new StopRequest();
  stop.listen();
  try {
    return await new Session(options, stop).work();
  } finally {
    lock.release();
  }
}

start(process.argv.slice(2))
  .catch((error: unknown) => {
    const known = error instanceof UsageError;
    process.stderr.write(`${known ? error.message : error instanceof Error ? error.stack : error}\n`);
    return known ? 2 : 1;
  })
  // What is written to a pipe may still be on its way when a process is told to exit at once.
  .then((code) => process.stdout.write('', () => process.stderr.write('', () => process.exit(code))));
