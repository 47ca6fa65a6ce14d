import { randomBytes } from 'node:crypto';
import { startRedis } from '../../infra/local/redis/redis.ts';
import { startDynamoTable } from './dynamo-records.ts';
import type { DynamoKind } from './plan.ts';
import { RedisMeter } from './redis-meter.ts';
import { type BenchProcess, startProcess } from './spawn.ts';

/** A private Redis, as all contenders get it. */
export interface BenchRedis {
  port: number;
  meter: RedisMeter;
  close(): Promise<void>;
}

/** What every run needs around its worker: each part in a process of its own. */
export interface Stage {
  hz: number;
  redis: BenchRedis;
  bridge: BenchProcess;
  bridgeToken: string;
  dynamo: BenchProcess;
  status: BenchProcess;
  close(): Promise<void>;
}

export async function startBenchRedis(hz: number): Promise<BenchRedis> {
  const redis = await startRedis({ appendOnly: false });
  const meter = new RedisMeter(redis.port);
  await meter.command('CONFIG', 'SET', 'hz', String(hz));
  return {
    port: redis.port,
    meter,
    close: async () => {
      meter.close();
      await redis.close();
    },
  };
}

export function startBridge(redisPort: number, token: string): Promise<BenchProcess> {
  return startProcess('remote-part', { PART: 'bridge', REDIS_PORT: String(redisPort), PART_KEY: token });
}

export interface StageOptions {
  /** The status server's; 0 takes a free one. */
  port: number;
  dynamo: DynamoKind;
  /** Redis' beat. */
  hz: number;
}

export async function startStage({ port, dynamo: dynamoKind, hz }: StageOptions): Promise<Stage> {
  const started: (() => Promise<void>)[] = [];
  const close = async () => {
    for (const stop of started.reverse()) await stop();
  };
  try {
    const status = await startProcess('status-server', { PORT: String(port) });
    started.push(status.kill);
    const redis = await startBenchRedis(hz);
    started.push(redis.close);
    const bridgeToken = randomBytes(16).toString('hex');
    const bridge = await startBridge(redis.port, bridgeToken);
    started.push(bridge.kill);
    const isReal = dynamoKind === 'dynalite';
    const dynamo = await startProcess(isReal ? 'remote-part' : 'dynamo-memory', { PART: 'dynamo' });
    started.push(dynamo.kill);
    if (isReal) await startDynamoTable(dynamo.url);
    return { hz, redis, bridge, bridgeToken, dynamo, status, close };
  } catch (error) {
    await close();
    throw error;
  }
}
