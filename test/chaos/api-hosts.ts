import { setTimeout as sleep } from 'node:timers/promises';
import type { NodeProcess } from '../support/node-process.ts';
import type { Bridge } from './redis-part.ts';
import type { Stage } from './stage.ts';

interface Host {
  process: NodeProcess;
  bridge: Bridge;
  /** Requests that it has not answered yet. */
  underWay: number;
}

const hostsWanted = 2;
/** Share of the submits whose answer is lost. */
const lostShare = 0.03;
/** A request takes about as long as this. */
const longestPauseMs = 25;
const requestDeadlineMs = 10_000;

/** The API: two processes, started again when they are killed. */
export class ApiHosts {
  lostAnswers = 0;
  readonly #stage: Stage;
  readonly #hosts = new Set<Host>();
  #turn = 0;

  private constructor(stage: Stage) {
    this.#stage = stage;
  }

  static async start(stage: Stage): Promise<ApiHosts> {
    const hosts = new ApiHosts(stage);
    await Promise.all(Array.from({ length: hostsWanted }, () => hosts.#startOne()));
    return hosts;
  }

  /** Sends a request to one that is up. Rejects when it dies, loses its answer or takes too long. */
  async send(path: string, init: RequestInit = {}): Promise<{ status: number; body: string }> {
    const host = [...this.#hosts][this.#turn++ % this.#hosts.size];
    if (host === undefined) throw new Error('No API process is up.');
    host.underWay++;
    try {
      const signal = AbortSignal.timeout(requestDeadlineMs);
      const response = await fetch(`${host.process.url}${path}`, { ...init, signal });
      return { status: response.status, body: await response.text() };
    } finally {
      host.underWay--;
    }
  }

  /** Kills one in the middle of a request, if there is one within two seconds; `pause` in [0, 1) says how far in. */
  async kill(pause: number): Promise<boolean> {
    const busy = () => [...this.#hosts].find(({ underWay }) => underWay > 0);
    for (const endMs = performance.now() + 2_000; busy() === undefined && performance.now() < endMs; ) await sleep(2);
    const host = busy() ?? [...this.#hosts][0];
    if (host === undefined) return false;
    await sleep(longestPauseMs * pause);
    await this.#end(host);
    await this.#startOne();
    return true;
  }

  async #startOne(): Promise<void> {
    const name = this.#stage.nextName('api');
    const bridge = await this.#stage.redis.open(name);
    const env = { SEED: `${this.#stage.seed} ${name}`, LOST_SHARE: String(lostShare) };
    const process = await this.#stage.startFunction(name, 'serve-api', 'api', { bridgeUrl: bridge.url, env });
    process.onMessage(() => {
      this.lostAnswers++;
    });
    this.#hosts.add({ process, bridge, underWay: 0 });
  }

  async #end(host: Host): Promise<void> {
    this.#hosts.delete(host);
    await host.process.kill();
    await host.bridge.close();
  }
}
