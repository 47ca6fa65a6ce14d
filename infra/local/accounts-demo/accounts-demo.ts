import { setTimeout as sleep } from 'node:timers/promises';
import { eventLine } from '../console/event-line.ts';
import type { StopRequest } from '../console/stop-request.ts';
import { ApiClient } from '../demo/api-client.ts';
import { Stack } from '../stack/stack.ts';
import { type RunningSumeSimulator, startSumeSimulator } from '../sume-simulator/start.ts';
import type { Evidence } from './evidence.ts';
import { observe } from './observe.ts';
import { OwnerRun } from './owner-run.ts';
import {
  accountsSetting,
  type DemoAccount,
  limits,
  makeAccounts,
  makeTokens,
  owners,
  simulatorOptions,
} from './plan.ts';
import { progressLine } from './progress-line.ts';

export interface AccountsDemoOptions {
  /** Where the local stack keeps what it stores. */
  dataDir: string;
  say: (line: string) => void;
  stop: StopRequest;
}

const refreshMs = 5_000;
/** From the first job on. What has not ended by then counts as not completed. */
const limitMs = 480_000;

/** The real parts of the local stack against a simulated provider in this process, where what it sees can be read. */
export class AccountsDemo {
  readonly #options: AccountsDemoOptions;
  readonly #accounts: readonly DemoAccount[];
  readonly #simulator: RunningSumeSimulator;
  readonly #stack: Stack;
  readonly #runs: readonly OwnerRun[];
  #startedAtMs = 0;

  private constructor(options: AccountsDemoOptions, accounts: readonly DemoAccount[], simulator: RunningSumeSimulator) {
    const { dataDir, say, stop } = options;
    this.#options = options;
    this.#accounts = accounts;
    this.#simulator = simulator;
    const tokens = makeTokens();
    const stackOptions = { dataDir, port: 0, timeScale: 1, jobs: 0, owners: tokens };
    this.#stack = new Stack(stackOptions, environmentFor(simulator.url, accounts), (event) => {
      if (stop.reason === undefined) say(eventLine(event));
      if (event.kind === 'given-up') stop.stop({ asked: false, line: 'A part dies again and again.' });
    });
    const url = () => this.#stack.apiUrl;
    this.#runs = owners.map((owner, place) => {
      const token = tokens[place]?.token ?? '';
      return new OwnerRun(owner, new ApiClient({ url, token, signal: stop.signal }));
    });
  }

  static async open(options: AccountsDemoOptions): Promise<AccountsDemo> {
    const accounts = makeAccounts();
    const simulator = await startSumeSimulator(simulatorOptions(accounts));
    try {
      return new AccountsDemo(options, accounts, simulator);
    } catch (error) {
      await simulator.close();
      throw error;
    }
  }

  /** Resolves with what there is to judge once every job has ended, the time is over, or the run is stopped. */
  async work(): Promise<Evidence> {
    const { say, stop } = this.#options;
    await this.#stack.start();
    this.#startedAtMs = Date.now();
    const sending = this.#send();
    let sent = false;
    const fault = sending.then(
      () => {
        sent = true;
      },
      (error: unknown) => stop.stop({ asked: false, line: error instanceof Error ? error.message : String(error) }),
    );
    while (stop.reason === undefined && Date.now() < this.#startedAtMs + limitMs) {
      await sleep(refreshMs, undefined, { signal: stop.signal }).catch(() => {});
      await this.#refresh();
      say(progressLine(await this.evidence(), Date.now()));
      if (sent && this.#runs.every(({ unfinished }) => unfinished === 0)) break;
    }
    if (stop.reason !== undefined) await fault;
    return this.evidence();
  }

  async evidence(): Promise<Evidence> {
    return {
      startedAtMs: this.#startedAtMs,
      slots: limits.maxInFlight,
      flooder: owners[0].name,
      sent: this.#runs.flatMap((run) => run.sent()),
      ...(await observe(this.#simulator, this.#accounts)),
    };
  }

  async close(): Promise<void> {
    await this.#stack.close();
    await this.#simulator.close();
  }

  /** First the flood, all of it; then the others, side by side. */
  async #send(): Promise<void> {
    const [flood, ...others] = this.#runs;
    await flood?.send();
    this.#options.say(`  The ${flood?.owner.jobs} jobs of ${flood?.owner.name} are accepted; now come the others.`);
    await Promise.all(others.map((run) => run.send(2)));
    this.#options.say('  All jobs are accepted.');
  }

  async #refresh(): Promise<void> {
    for (const run of this.#runs) {
      if (run.unfinished === 0) continue;
      // One page that could not be had is no reason to end: the next round asks again.
      await run.refresh().catch((error: unknown) => {
        if (this.#options.stop.reason === undefined) this.#options.say(`  ${String(error)}`);
      });
    }
  }
}

/** What the stack is to take for the shell's environment: nothing of the user's own settings may decide how this ends. */
function environmentFor(url: string, accounts: readonly DemoAccount[]): Record<string, string> {
  return {
    SUME_API_BASE_URL: url,
    ACCOUNTS: accountsSetting(accounts),
    ...Object.fromEntries(accounts.map(({ keyVariable, key }) => [keyVariable, key])),
  };
}
