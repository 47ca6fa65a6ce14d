import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { TestUpstash } from '../support/upstash.ts';

/** Commands that change nothing. Whatever is not here counts as a write. */
const reads = new Set(
  'auth client echo eval evalsha exists get hello hexists hget hgetall hlen hmget info mget multi exec ping scard script select sismember smembers strlen time ttl pttl type zcard zcount zmscore zrange zrangebyscore zrank zscore'.split(
    ' ',
  ),
);

/** What is written to a Redis, heard by MONITOR, which also tells what scripts do. */
export class RedisWatch {
  readonly #upstash: TestUpstash;
  readonly #socket: Socket;
  #rest = '';
  #writes: string[] = [];
  #marks = 0;
  #heard: (() => void) | undefined;

  private constructor(upstash: TestUpstash, socket: Socket) {
    this.#upstash = upstash;
    this.#socket = socket;
    socket.setEncoding('latin1');
    socket.on('data', (text: string) => this.#take(text));
  }

  static async start(upstash: TestUpstash): Promise<RedisWatch> {
    const socket = connect(upstash.redis.port, '127.0.0.1');
    await once(socket, 'connect');
    const watch = new RedisWatch(upstash, socket);
    socket.write('MONITOR\r\n');
    await once(socket, 'data');
    return watch;
  }

  /** Each write since the last call, as `command key`. */
  async writes(): Promise<string[]> {
    const heard = new Promise<void>((resolve) => {
      this.#heard = resolve;
    });
    // Redis tells in the order in which it does things: what comes before the mark is all there was.
    await this.#upstash.direct('ECHO', `mark-${++this.#marks}`);
    await heard;
    const writes = this.#writes;
    this.#writes = [];
    return writes;
  }

  close(): void {
    this.#socket.destroy();
  }

  #take(text: string): void {
    const lines = (this.#rest + text).split('\r\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) {
      const [, command = '', key = ''] = /^\+[\d.]+ \[[^\]]*\] "([^"]*)"(?: "([^"]*)")?/.exec(line) ?? [];
      if (command.toLowerCase() === 'echo' && key === `mark-${this.#marks}`) this.#heard?.();
      else if (command !== '' && !reads.has(command.toLowerCase()))
        this.#writes.push(`${command.toLowerCase()} ${key}`);
    }
  }
}
