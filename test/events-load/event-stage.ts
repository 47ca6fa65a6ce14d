import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import { setPriority } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildFunctions } from '../../infra/build.ts';
import { ensureTable } from '../../infra/local/dynamo/ensure-table.ts';
import { startRedis } from '../../infra/local/redis/redis.ts';
import type { SumeSimulatorOptions } from '../../infra/local/sume-simulator/settings.ts';
import { startInvokeEndpoint } from '../bench/invoke-endpoint.ts';
import { ProviderControl } from '../chaos/provider-control.ts';
import { bundleModules } from '../support/bundle-modules.ts';
import { type NodeProcess, startNodeProcess } from '../support/node-process.ts';
import { Containers } from './containers.ts';

/*
 * The product with everything around it, from the API to the webhooks: the packaged functions in processes of their own, which
 * invoke each other through a Lambda in small; a real Redis behind its bridge, dynalite, and the provider's simulator.
 */

export interface EventStageOptions {
  /** What can be written as JSON. */
  provider: SumeSimulatorOptions;
  /** Settings of the functions. */
  env: Record<string, string>;
  /** Containers of a function at a time. */
  atMost: number;
  /** What has a part in polling goes before the rest, which has machines of its own on AWS. */
  pollingFirst: boolean;
}

export interface EventStage {
  /** Base address of the API; whoever calls is the one owner, with every scope. */
  apiUrl: string;
  provider: NodeProcess;
  control: ProviderControl;
  table: { endpoint: string; name: string; region: string };
  functions: Record<RunName, Containers>;
  /** Starts one of the rig's own processes. */
  start(name: ProcessName, env: Record<string, string>): Promise<NodeProcess>;
  logDir: string;
  /** Ends all that was started here, and only that. `keepLogs`: something is to be looked into. */
  close(keepLogs: boolean): Promise<void>;
}

const processFiles = {
  container: new URL('./processes/container.ts', import.meta.url),
  provider: new URL('./processes/provider.ts', import.meta.url),
  receivers: new URL('./processes/receivers.ts', import.meta.url),
  'serve-api': new URL('../chaos/processes/serve-api.ts', import.meta.url),
  'remote-part': new URL('../bench/processes/remote-part.ts', import.meta.url),
};
type ProcessName = keyof typeof processFiles;

/** What serverless.yml gives each, ms. */
const timeoutsMs = { drain: 90_000, deliver: 90_000, sweep: 120_000 };
type RunName = keyof typeof timeoutsMs;

const stageName = 'events';
const tableName = `pollkeeper-${stageName}`;
const region = 'us-east-1';
const runsDir = fileURLToPath(new URL('../../.build/events', import.meta.url));

/** All or nothing: when one part does not come up, those that did are ended. */
export async function startEventStage(options: EventStageOptions): Promise<EventStage> {
  const dir = join(runsDir, String(process.pid));
  mkdirSync(join(dir, 'logs'), { recursive: true });
  const stops: (() => unknown)[] = [];
  let closed = false;
  const close = async (keepLogs: boolean) => {
    closed = true;
    for (const stop of stops.splice(0).reverse()) await stop();
    if (!keepLogs) rmSync(dir, { recursive: true, force: true });
  };
  try {
    // A part may come up when another one has failed to.
    const atEnd: AtEnd = (stop) => void (closed ? stop() : stops.push(stop));
    return { ...(await startAll(dir, options, atEnd)), close };
  } catch (error) {
    await close(false);
    throw error;
  }
}

async function startAll(dir: string, options: EventStageOptions, atEnd: AtEnd) {
  const { provider: simulated, env, atMost, pollingFirst } = options;
  // One by one: together they would get folders like those that they come from.
  const bundled = Object.values(processFiles).map((file) => bundleModules([fileURLToPath(file)], dir));
  const names = ['api', ...Object.keys(timeoutsMs)];
  await Promise.all([...bundled, buildFunctions({ outDir: dir, names })]);
  const launch = launcher(dir, pollingFirst);
  const start = starter(launch, atEnd);
  const invoked = (event: string, name: string) =>
    functions[name.endsWith('-deliver') ? 'deliver' : 'drain'].invoke(event);
  const [parts, endpoint] = await Promise.all([startParts(start, simulated, atEnd), startInvokeEndpoint(invoked)]);
  atEnd(() => endpoint.close());
  const settings = { ...settingsOf(parts), LAMBDA_ENDPOINT: endpoint.url, ...env };
  const bundle = (name: string) => ({ BUNDLE: join(dir, name, 'index.mjs') });
  const containers = (name: RunName) => {
    const given = { ...settings, ...bundle(name), TIMEOUT_MS: String(timeoutsMs[name]) };
    return new Containers(() => launch('container', given, name), atMost);
  };
  const functions = { drain: containers('drain'), deliver: containers('deliver'), sweep: containers('sweep') };
  atEnd(() => Promise.all(Object.values(functions).map((some) => some.stop())));
  const api = await start('serve-api', { ...settings, ...bundle('api'), LOST_SHARE: '0' });
  return {
    apiUrl: api.url,
    provider: parts.provider,
    control: new ProviderControl(parts.provider.url),
    table: { endpoint: parts.database.url, name: tableName, region },
    ...{ functions, start },
    logDir: join(dir, 'logs'),
  };
}

type AtEnd = (stop: () => unknown) => void;
type Start = (name: ProcessName, env: Record<string, string>, logName?: string) => Promise<NodeProcess>;

function starter(launch: Start, atEnd: AtEnd): Start {
  return async (name, env, logName) => {
    const started = await launch(name, env, logName);
    atEnd(() => started.kill());
    return started;
  };
}

const pollingParts = ['drain', 'bridge', 'provider'];

function launcher(dir: string, pollingFirst: boolean): Start {
  return async (name, env, logName = name) => {
    const logFile = join(dir, 'logs', `${logName}.log`);
    const started = await startNodeProcess(join(dir, `${name}.mjs`), env, { logFile });
    if (pollingFirst && !pollingParts.includes(logName)) setPriority(started.pid, 10);
    return started;
  };
}

interface Parts {
  bridge: NodeProcess;
  bridgeToken: string;
  database: NodeProcess;
  provider: NodeProcess;
}

async function startParts(start: Start, simulated: SumeSimulatorOptions, atEnd: AtEnd): Promise<Parts> {
  const redis = await startRedis();
  atEnd(() => redis.close());
  const bridgeToken = randomBytes(16).toString('hex');
  const [bridge, database, provider] = await Promise.all([
    start('remote-part', { PART: 'bridge', REDIS_PORT: String(redis.port), PART_KEY: bridgeToken }, 'bridge'),
    start('remote-part', { PART: 'dynamo' }, 'database'),
    start('provider', { OPTIONS: JSON.stringify(simulated) }),
  ]);
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
  await ensureTable({ endpoint: database.url, tableName, region, credentials, emulated: true });
  return { bridge, bridgeToken, database, provider };
}

function settingsOf({ bridge, bridgeToken, database, provider }: Parts): Record<string, string> {
  return {
    STAGE: stageName,
    TABLE_NAME: tableName,
    UPSTASH_REDIS_REST_URL: bridge.url,
    UPSTASH_REDIS_REST_TOKEN: bridgeToken,
    UPSTASH_DISABLE_TELEMETRY: '1',
    SUME_API_BASE_URL: provider.url,
    SUME_API_KEY: 'sume_events',
    DYNAMODB_ENDPOINT: database.url,
    WEBHOOK_ALLOW_LOCAL: 'on',
    AWS_REGION: region,
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
  };
}
