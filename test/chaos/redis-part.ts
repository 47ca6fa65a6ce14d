import { setTimeout as sleep } from 'node:timers/promises';
import { type LocalRedis, startRedis } from '../../infra/local/redis/redis.ts';
import { seededRandom } from '../../infra/local/sume-simulator/simulator.ts';
import type { Faults } from '../../infra/local/upstash-rest/faults.ts';
import { RedisLink } from '../../infra/local/upstash-rest/redis-link.ts';
import { startUpstashRest, type UpstashRest } from '../../infra/local/upstash-rest/upstash-rest.ts';
import { LeaseBook } from './lease-book.ts';

export interface Bridge {
  url: string;
  /** Once what is under way is done. Tells what its user had in hand. */
  close(): Promise<string[]>;
}

export const bridgeToken = 'chaos';

/** The real Redis, with a bridge for each process, so that it is known who does what. */
export class RedisPart {
  readonly book = new LeaseBook();
  /** When Redis was killed, ms since 1970. */
  readonly wipesAtMs: number[] = [];
  readonly #seed: string;
  readonly #bridges = new Map<string, UpstashRest>();
  readonly #link: RedisLink;
  #redis: LocalRedis;
  #restarted: Promise<void> = Promise.resolve();
  /** Share of the replies that are dropped after the command was run. */
  #dropShare = 0;

  private constructor(seed: string, redis: LocalRedis) {
    this.#seed = seed;
    this.#redis = redis;
    this.#link = new RedisLink({ port: redis.port, replyTimeoutMs: 5_000 });
  }

  static async start(seed: string): Promise<RedisPart> {
    return new RedisPart(seed, await startRedis());
  }

  /** A bridge for the process of this name, which no other process has had. */
  async open(name: string): Promise<Bridge> {
    this.book.open(name);
    const rest = await startUpstashRest({
      redisPort: this.#redis.port,
      token: bridgeToken,
      random: seededRandom(`${this.#seed} ${name}`),
      onRun: (run) => this.book.ran(name, run),
    });
    this.#bridges.set(name, rest);
    await setFaults(rest, this.#faults());
    return {
      url: rest.url,
      close: async () => {
        this.#bridges.delete(name);
        await rest.close();
        return this.book.close(name);
      },
    };
  }

  async dropReplies(share: number): Promise<void> {
    this.#dropShare = share;
    await Promise.all([...this.#bridges.values()].map((rest) => setFaults(rest, this.#faults())));
  }

  /** SIGKILL, and after a while an empty Redis on the same port. */
  killAndRestart(awayMs: number): Promise<void> {
    const { port, pid } = this.#redis;
    process.kill(pid, 'SIGKILL');
    this.wipesAtMs.push(Date.now());
    this.book.wiped();
    const restart = async () => {
      // Only takes its folder away: it is dead.
      await this.#redis.close();
      await sleep(awayMs);
      this.#redis = await startRedis({ port });
    };
    this.#restarted = restart();
    return this.#restarted;
  }

  /** The members of a sorted set. */
  async idsIn(key: string): Promise<string[]> {
    const [ids] = await this.#link.send([['ZRANGE', key, '0', '-1']]);
    return Array.isArray(ids) ? ids.map(String) : [];
  }

  async close(): Promise<void> {
    this.#link.close();
    await Promise.all([...this.#bridges.values()].map((rest) => rest.close()));
    await this.#restarted.catch(() => {});
    await this.#redis.close();
  }

  #faults(): Faults {
    return this.#dropShare > 0 ? { dropReplies: this.#dropShare } : {};
  }
}

async function setFaults(rest: UpstashRest, faults: Faults): Promise<void> {
  const response = await fetch(`${rest.url}/__faults`, {
    method: 'POST',
    headers: { authorization: `Bearer ${bridgeToken}` },
    body: JSON.stringify(faults),
  });
  if (!response.ok) throw new Error(`The bridge refused its faults: ${await response.text()}`);
}
