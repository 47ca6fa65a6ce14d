import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildFunctions } from '../../infra/build.ts';
import { ensureTable } from '../../infra/local/dynamo/ensure-table.ts';
import { type InvokeEndpoint, startInvokeEndpoint } from '../bench/invoke-endpoint.ts';
import { bundleModules } from '../support/bundle-modules.ts';
import { type NodeProcess, startNodeProcess } from '../support/node-process.ts';
import type { ChaosOptions } from './options.ts';
import { ProviderControl } from './provider-control.ts';
import { bridgeToken, RedisPart } from './redis-part.ts';

const processNames = ['provider', 'database', 'run-function', 'serve-api'] as const;
type ProcessName = (typeof processNames)[number];
type FunctionName = 'api' | 'drain' | 'sweep';

/** The product's stage, which is part of its keys. */
export const productStage = 'chaos';
const tableName = `pollkeeper-${productStage}`;
const region = 'us-east-1';
const providerKey = 'sume_chaos';
const runsDir = fileURLToPath(new URL('../../.build/chaos', import.meta.url));

/** What a run needs around the functions: each part in a process of its own, all of them on free ports. */
export class Stage {
  readonly seed: string;
  readonly redis: RedisPart;
  readonly provider: NodeProcess;
  readonly control: ProviderControl;
  readonly #dir: string;
  readonly #database: NodeProcess;
  readonly #endpoint: InvokeEndpoint;
  readonly #quick: boolean;
  /** Those that were started, or are just starting. */
  readonly #processes = new Set<Promise<NodeProcess>>();
  #closing = false;
  #count = 0;

  private constructor(given: Parts & { dir: string; options: ChaosOptions }) {
    this.seed = given.options.seed;
    this.redis = given.redis;
    this.provider = given.provider;
    this.control = new ProviderControl(given.provider.url);
    this.#dir = given.dir;
    this.#database = given.database;
    this.#endpoint = given.endpoint;
    this.#quick = given.options.quick;
  }

  /** `invoked` gets the event of each asynchronous invoke of the drain. */
  static async start(options: ChaosOptions, invoked: (event: string) => void): Promise<Stage> {
    const dir = join(runsDir, `${options.seed}-${process.pid}`);
    mkdirSync(join(dir, 'logs'), { recursive: true });
    const files = processNames.map((name) => fileURLToPath(new URL(`./processes/${name}.ts`, import.meta.url)));
    await Promise.all([bundleModules(files, dir), buildFunctions({ outDir: dir, names: ['api', 'drain', 'sweep'] })]);
    const parts = await startParts(dir, options, invoked);
    return new Stage({ ...parts, dir, options });
  }

  /** Rejects when a part that nobody kills ends by itself. */
  get broken(): Promise<never> {
    return Promise.race([this.provider.failed, this.#database.failed]);
  }

  get logDir(): string {
    return join(this.#dir, 'logs');
  }

  /** The next process of this kind gets this name. */
  nextName(kind: string): string {
    this.#count++;
    return `${kind}-${this.#count}`;
  }

  /** Starts a process in which a packaged function runs, with its settings as its environment. */
  startFunction(
    name: string,
    process: ProcessName,
    functionName: FunctionName,
    given: { bridgeUrl: string; env: Record<string, string> },
  ): Promise<NodeProcess> {
    const env = {
      ...this.#settings(given.bridgeUrl),
      BUNDLE: join(this.#dir, functionName, 'index.mjs'),
      ...given.env,
    };
    if (this.#closing) return Promise.reject(new Error('Everything is being ended.'));
    const starting = start(this.#dir, process, name, env);
    this.#processes.add(starting);
    const forget = () => this.#processes.delete(starting);
    void starting.then((started) => started.gone).then(forget, forget);
    return starting;
  }

  /** Ends all that was started here, and only that. `keepLogs`: something is to be looked into. */
  async close(keepLogs: boolean): Promise<void> {
    this.#endpoint.close();
    this.#closing = true;
    const kill = (starting: Promise<NodeProcess>) => starting.then((started) => started.kill()).catch(() => {});
    await Promise.all([...this.#processes].map(kill));
    await Promise.all([this.provider.kill(), this.#database.kill(), this.redis.close()]);
    if (!keepLogs) rmSync(this.#dir, { recursive: true, force: true });
  }

  #settings(bridgeUrl: string): Record<string, string> {
    return {
      STAGE: productStage,
      TABLE_NAME: tableName,
      UPSTASH_REDIS_REST_URL: bridgeUrl,
      UPSTASH_REDIS_REST_TOKEN: bridgeToken,
      UPSTASH_DISABLE_TELEMETRY: '1',
      SUME_API_BASE_URL: this.provider.url,
      SUME_API_KEY: providerKey,
      DYNAMODB_ENDPOINT: this.#database.url,
      LAMBDA_ENDPOINT: this.#endpoint.url,
      AWS_REGION: region,
      AWS_ACCESS_KEY_ID: 'local',
      AWS_SECRET_ACCESS_KEY: 'local',
      AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
      ...(this.#quick && { LEASE_MS: '5000', TICK_MS: '500' }),
    };
  }
}

interface Parts {
  redis: RedisPart;
  provider: NodeProcess;
  database: NodeProcess;
  endpoint: InvokeEndpoint;
}

/** All or nothing: when one does not come up, those that did are ended. */
async function startParts(dir: string, options: ChaosOptions, invoked: (event: string) => void): Promise<Parts> {
  const started: (() => unknown)[] = [];
  const keep = <T extends { kill(): unknown } | { close(): unknown }>(part: T): T => {
    started.unshift(() => ('kill' in part ? part.kill() : part.close()));
    return part;
  };
  try {
    const redis = keep(await RedisPart.start(options.seed));
    const env = { SEED: options.seed, TIME_SCALE: String(options.timeScale), API_KEY: providerKey };
    const provider = keep(await start(dir, 'provider', 'provider', env));
    const database = keep(await start(dir, 'database', 'database', {}));
    const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
    await ensureTable({ endpoint: database.url, tableName, region, credentials, emulated: true });
    return { redis, provider, database, endpoint: await startInvokeEndpoint(invoked) };
  } catch (error) {
    for (const stop of started) await stop();
    throw error;
  }
}

function start(dir: string, process: ProcessName, name: string, env: Record<string, string>): Promise<NodeProcess> {
  const logFile = join(dir, 'logs', `${name}.log`);
  return startNodeProcess(join(dir, `${process}.mjs`), env, { logFile, detached: true });
}
