/**
 * One part of the local stack in a process of its own:
 *   node --import tsx infra/local/part.ts redis-bridge|dynamo|sume --port N --data-dir DIR [--redis-port N] [--time-scale N] [--jobs N]
 * Prints one line of JSON when the part is up, and ends in good order when its stdin ends: its parent is gone then, however it
 * went. The keys come by the environment (PART_KEY; several with a space between), because everyone on the machine can read a
 * command line.
 */
import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

export const partNames = ['redis-bridge', 'dynamo', 'sume'] as const;
export type PartName = (typeof partNames)[number];

/** The line that a part prints when it is up. */
export interface PartReady {
  url: string;
  port: number;
  /** Only the redis-bridge: the Redis behind it. */
  redis?: { port: number; pid: number };
}

interface Part {
  ready: PartReady;
  close(): Promise<void>;
  /** Resolves when the part can no longer do its work. */
  broken?: Promise<string>;
}

type PartOptions = { port: number; dataDir: string; redisPort: number; timeScale: number; jobs: number; key: string };

const starters: Record<PartName, (options: PartOptions) => Promise<Part>> = {
  'redis-bridge': startRedisBridge,
  dynamo: startDynamoPart,
  sume: startSumePart,
};

async function startRedisBridge(options: PartOptions): Promise<Part> {
  const { startRedis } = await import('./redis/redis.ts');
  const { startUpstashRest } = await import('./upstash-rest/upstash-rest.ts');
  const redis = await startRedis({ dataDir: options.dataDir, port: options.redisPort });
  const bridge = await startUpstashRest({ redisPort: redis.port, token: options.key, port: options.port }).catch(
    async (error: unknown) => {
      await redis.close();
      throw error;
    },
  );
  return {
    ready: { url: bridge.url, port: bridge.port, redis: { port: redis.port, pid: redis.pid } },
    broken: whenGone(redis.pid).then(() => `Redis (process ${redis.pid}) ended`),
    close: async () => {
      await bridge.close();
      await redis.close();
    },
  };
}

async function startDynamoPart({ port, dataDir }: PartOptions): Promise<Part> {
  const { startDynamo } = await import('./dynamo/dynamo.ts');
  const dynamo = await startDynamo({ dataDir, port });
  return { ready: { url: dynamo.url, port: dynamo.port }, close: dynamo.close };
}

async function startSumePart({ port, dataDir, timeScale, jobs, key }: PartOptions): Promise<Part> {
  const { startSumeSimulator } = await import('./sume-simulator/start.ts');
  // A day of the simulated plan allows 300 creates: a larger demo would stand still until its tomorrow.
  const limits = jobs > 150 ? { createsPerDay: jobs * 10, readsPerDay: jobs * 1_000 } : {};
  // Without one the simulator sends no webhooks.
  const webhookSecret = process.env.SUME_SIM_WEBHOOK_SECRET;
  const simulator = await startSumeSimulator({
    ...{ port, dataDir, timeScale, apiKeys: key.split(' '), limits },
    ...(webhookSecret && { webhookSecret }),
  });
  return { ready: { url: simulator.url, port: simulator.port }, close: simulator.close };
}

/** Resolves when the process is gone. It is a child of ours, so it doesn't linger as a zombie. */
function whenGone(pid: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setInterval(() => {
      try {
        process.kill(pid, 0);
      } catch {
        clearInterval(timer);
        resolve();
      }
    }, 250);
    timer.unref();
  });
}

function readPart(argv: string[]): { name: PartName; options: PartOptions } {
  const text = { type: 'string' } as const;
  const options = { port: text, 'data-dir': text, 'redis-port': text, 'time-scale': text, jobs: text };
  const { values, positionals } = parseArgs({ args: argv, options, allowPositionals: true });
  const name = partNames.find((known) => known === positionals[0]);
  const dataDir = values['data-dir'];
  if (name === undefined || dataDir === undefined) {
    throw new Error(`Usage: part.ts ${partNames.join('|')} --port N --data-dir DIR`);
  }
  return {
    name,
    options: {
      port: Number(values.port ?? 0),
      dataDir,
      redisPort: Number(values['redis-port'] ?? 0),
      timeScale: Number(values['time-scale'] ?? 1),
      jobs: Number(values.jobs ?? 0),
      key: process.env.PART_KEY || 'local',
    },
  };
}

async function runPart(): Promise<void> {
  const { name, options } = readPart(process.argv.slice(2));
  const parentGone = new Promise<'stop'>((resolve) => {
    process.stdin.resume();
    for (const event of ['end', 'close', 'error']) process.stdin.once(event, () => resolve('stop'));
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => resolve('stop'));
  });
  const part = await starters[name](options);
  // The parent may be gone already, and nobody reads this then.
  process.stdout.on('error', () => {});
  process.stdout.write(`${JSON.stringify(part.ready)}\n`);
  const end = await Promise.race([parentGone, part.broken ?? parentGone]);
  if (end !== 'stop') console.error(end);
  await part.close();
  process.exit(end === 'stop' ? 0 : 1);
}

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  runPart().catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exit(1);
  });
}
