import { RedisLink } from '../../infra/local/upstash-rest/redis-link.ts';
import type { CommandArgument, Reply } from '../../infra/local/upstash-rest/resp.ts';

export interface RedisFigures {
  /** All commands, those inside scripts too. */
  commands: number;
  /** Commands that came over the network, each a wait of its own: scripts as a whole, and blocking reads. */
  roundTrips: number;
  cpuSeconds: number;
  memoryBytes: number;
}

/** Commands of ours, and those by which a client only introduces itself. */
const notCounted = new Set(['info', 'config|resetstat', 'config|set', 'flushall', 'memory|usage', 'ping']);
/** What a client that works by scripts sends besides them. */
const outsideScripts = new Set([
  'eval',
  'evalsha',
  'bzpopmin',
  'client|setname',
  'client|setinfo',
  'hello',
  'script|load',
]);

/** `INFO commandstats` as calls by command. Sub-commands are named `config|set`. */
export function commandCalls(text: string): Map<string, number> {
  const calls = new Map<string, number>();
  for (const [, name, count] of text.matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm)) {
    if (name !== undefined && !notCounted.has(name)) calls.set(name, Number(count));
  }
  return calls;
}

/** Without scripts every command is a round trip. */
export function roundTripsIn(calls: ReadonlyMap<string, number>): number {
  const byScript = calls.has('eval') || calls.has('evalsha');
  let sum = 0;
  for (const [name, count] of calls) if (!byScript || outsideScripts.has(name)) sum += count;
  return sum;
}

/** Looks at one Redis from outside. */
export class RedisMeter {
  readonly #link: RedisLink;

  constructor(port: number) {
    this.#link = new RedisLink({ port, replyTimeoutMs: 60_000 });
  }

  async command(...command: CommandArgument[]): Promise<Reply> {
    const [reply] = await this.#link.send([command]);
    return reply ?? null;
  }

  /** Many commands in one go. */
  async pipeline(commands: CommandArgument[][]): Promise<Reply[]> {
    return commands.length === 0 ? [] : this.#link.send(commands);
  }

  /** Empties the database. */
  async clear(): Promise<void> {
    await this.command('FLUSHALL', 'SYNC');
  }

  /** Counting starts here. */
  async reset(): Promise<void> {
    await this.command('CONFIG', 'RESETSTAT');
  }

  /** Since the last reset; the CPU time since Redis started. */
  async read(): Promise<RedisFigures> {
    const [stats, cpu, memory] = await Promise.all(
      ['commandstats', 'cpu', 'memory'].map(async (section) => String(await this.command('INFO', section))),
    );
    const calls = commandCalls(stats ?? '');
    const number = (text: string | undefined, name: string) =>
      Number(new RegExp(`^${name}:([\\d.]+)`, 'm').exec(text ?? '')?.[1] ?? 0);
    return {
      commands: [...calls.values()].reduce((sum, count) => sum + count, 0),
      roundTrips: roundTripsIn(calls),
      cpuSeconds: number(cpu, 'used_cpu_user') + number(cpu, 'used_cpu_sys'),
      memoryBytes: number(memory, 'used_memory'),
    };
  }

  close(): void {
    this.#link.close();
  }
}
