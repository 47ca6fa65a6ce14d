import { appendFileSync, mkdirSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { buildFunctions } from '../../build.ts';
import { type StartOptions, UsageError } from '../console/options.ts';
import { ensureTable } from '../dynamo/ensure-table.ts';
import { startGateway } from '../gateway/gateway.ts';
import {
  gatewayEnvironment,
  type PartAddresses,
  region,
  stage,
  wakeFunctions,
} from '../gateway/gateway-environment.ts';
import type { PartName } from '../part.ts';
import { type Environment, type GivenEndpoints, readEndpoints } from './endpoints.ts';
import { isFree } from './free-port.ts';
import { type KeptPorts, openKeptPorts } from './kept-ports.ts';
import { type LocalAccounts, readLocalAccounts } from './local-accounts.ts';
import { type LocalKeys, type OwnerToken, readLocalKeys, tokenList } from './local-keys.ts';
import { type SpawnedPart, spawnPart } from './spawn-part.ts';
import { type PartEvent, type RunningPart, type SupervisedPart, supervise } from './supervise.ts';

type StackOptions = Pick<StartOptions, 'dataDir' | 'port' | 'timeScale' | 'jobs'> & {
  /** Who may use the API beside this folder's own owner. */
  owners?: readonly OwnerToken[];
};
type GatewayPart = RunningPart & { lambdaUrl: string; lambdaPort: number };

/** Something to tell the user. `given`: the environment names this part, so it isn't started. `begins`: it takes seconds. */
export type StackEvent =
  | PartEvent
  | { kind: 'given'; name: string; url: string }
  | { kind: 'begins'; text: string }
  | { kind: 'note'; text: string };

/** The parts that were started here; those given by the environment are absent. */
export interface OwnParts {
  'redis-bridge'?: SupervisedPart<SpawnedPart>;
  dynamo?: SupervisedPart<SpawnedPart>;
  sume?: SupervisedPart<SpawnedPart>;
  gateway?: SupervisedPart<GatewayPart>;
}

/** Brings the local stack up, part by part, and down again. `keys` are this folder's own. */
export class Stack {
  readonly keys: LocalKeys;
  readonly given: GivenEndpoints;
  readonly accounts: LocalAccounts;
  readonly parts: OwnParts = {};
  readonly logDir: string;
  readonly #options: StackOptions;
  readonly #environment: Environment;
  readonly #onEvent: (event: StackEvent) => void;
  readonly #ports: KeptPorts;

  /** Throws a UsageError for endpoints that the environment names by half, and for accounts without a key. */
  constructor(options: StackOptions, environment: Environment, onEvent: (event: StackEvent) => void) {
    this.given = readEndpoints(environment);
    this.#options = options;
    this.#environment = environment;
    this.#onEvent = onEvent;
    this.logDir = join(options.dataDir, 'logs');
    mkdirSync(this.logDir, { recursive: true, mode: 0o700 });
    this.keys = readLocalKeys(options.dataDir);
    this.accounts = readLocalAccounts(environment, this.given.sume, this.keys.sumeKey);
    this.#ports = openKeptPorts(options.dataDir);
  }

  /** Base address of the HTTP API. */
  get apiUrl(): string {
    return this.parts.gateway?.current().url ?? '';
  }

  /** Resolves when everything answers. After a rejection, call `close` for what had come up. */
  async start(): Promise<void> {
    const { port } = this.#options;
    if (port !== 0 && !(await isFree(port)))
      throw new UsageError(`Port ${port} is in use; choose another with --port.`);
    const tableName = this.#environment.TABLE_NAME || `pollkeeper-${stage}`;
    const [redis, sume, dynamo] = await Promise.all([
      this.#redis(),
      this.#sume(),
      this.#dynamo(tableName),
      this.#build(),
    ]);
    await this.#gateway({ redis, sume, dynamo }, tableName);
  }

  /** Stops what was started, and only that: first what makes calls, then what answers them. */
  async close(): Promise<void> {
    await this.parts.gateway?.close();
    const { sume, dynamo, 'redis-bridge': redis } = this.parts;
    await Promise.all([sume?.close(), dynamo?.close(), redis?.close()]);
  }

  /** Has what is due worked on now, instead of at the next full minute. */
  async wake(): Promise<void> {
    const lambdaUrl = this.parts.gateway?.current().lambdaUrl;
    if (lambdaUrl !== undefined) await wakeFunctions(lambdaUrl);
  }

  async #redis(): Promise<PartAddresses['redis']> {
    if (this.given.redis !== undefined) return this.#useGiven('redis', this.given.redis);
    const redisPort = await this.#ports.suggest('redis');
    const part = await this.#spawn('redis-bridge', this.keys.redisToken, (before) => [
      ...['--redis-port', String(before?.redis?.port ?? redisPort)],
    ]);
    this.parts['redis-bridge'] = part;
    this.#ports.keep('redis', part.current().redis?.port ?? 0);
    return { url: part.current().url, token: this.keys.redisToken };
  }

  async #sume(): Promise<PartAddresses['sume']> {
    if (this.given.sume !== undefined) return this.#useGiven('sume', this.given.sume);
    const { timeScale, jobs } = this.#options;
    const keys = [...new Set(Object.values(this.accounts.keys))].join(' ');
    const part = await this.#spawn('sume', keys, () => [
      ...['--time-scale', String(timeScale), '--jobs', String(jobs)],
    ]);
    this.parts.sume = part;
    return { url: part.current().url };
  }

  async #dynamo(tableName: string): Promise<string> {
    const emulated = this.given.dynamo === undefined;
    if (this.given.dynamo !== undefined) this.#useGiven('dynamo', this.given.dynamo);
    else this.parts.dynamo = await this.#spawn('dynamo', 'local', () => []);
    const endpoint = this.given.dynamo?.url ?? this.parts.dynamo?.current().url ?? '';
    const made = { accessKeyId: 'local', secretAccessKey: 'local' };
    const needsKeys = emulated || (this.given.dynamo?.onThisMachine && !this.#environment.AWS_ACCESS_KEY_ID);
    const table = await ensureTable({
      endpoint,
      tableName,
      emulated,
      region: this.#environment.AWS_REGION || region,
      ...(needsKeys && { credentials: made }),
    });
    if (table.notes.length > 0) this.#note(`table ${tableName}: ${table.notes.join(', ')}`, emulated);
    return endpoint;
  }

  async #build(): Promise<void> {
    this.#onEvent({ kind: 'begins', text: 'Building the functions and starting what they need …' });
    await buildFunctions();
  }

  async #gateway(parts: PartAddresses, tableName: string): Promise<void> {
    this.#onEvent({ kind: 'begins', text: 'Starting the API …' });
    const tokens = tokenList(this.keys, this.#options.owners);
    const env = gatewayEnvironment(parts, this.accounts, tokens, tableName, this.#environment);
    const port = this.#options.port || (await this.#ports.suggest('gateway'));
    const lambdaPort = await this.#ports.suggest('lambda');
    const part = await supervise<GatewayPart>({
      name: 'gateway',
      onEvent: (event) => {
        this.#onEvent(event);
        if (event.kind === 'back') void this.wake();
      },
      start: async (before) => {
        const ports = { port: before?.port ?? port, lambdaPort: before?.lambdaPort ?? lambdaPort };
        const gateway = await startGateway({ ...ports, stage, env, logFile: this.#logFile('gateway') });
        const exited = gateway.exited.then(({ code, signal }) => signal ?? `exit code ${code}`);
        return { ...gateway, exited };
      },
    });
    this.parts.gateway = part;
    this.#ports.keep('gateway', part.current().port);
    this.#ports.keep('lambda', part.current().lambdaPort);
  }

  async #spawn(
    name: PartName,
    key: string,
    argsFor: (before: SpawnedPart | undefined) => string[],
  ): Promise<SupervisedPart<SpawnedPart>> {
    const suggested = await this.#ports.suggest(name);
    const dataDir = join(this.#options.dataDir, name === 'redis-bridge' ? 'redis' : name);
    const supervised = await supervise<SpawnedPart>({
      name,
      onEvent: this.#onEvent,
      start: (before) => {
        const args = ['--port', String(before?.port ?? suggested), '--data-dir', dataDir, ...argsFor(before)];
        return spawnPart({ name, args, key, logFile: this.#logFile(name) });
      },
    });
    this.#ports.keep(name, supervised.current().port);
    return supervised;
  }

  /** What our own emulator lacks is the same every time and no news to the user: that goes to its log. */
  #note(text: string, emulated: boolean): void {
    if (emulated) appendFileSync(join(this.logDir, 'dynamo.log'), `${text}\n`);
    else this.#onEvent({ kind: 'note', text });
  }

  #useGiven<T extends { url: string }>(name: string, given: T): T {
    this.#onEvent({ kind: 'given', name, url: given.url });
    return given;
  }

  /** The log goes on where the last run ended; a large one is put aside first. */
  #logFile(name: string): string {
    const path = join(this.logDir, `${name}.log`);
    if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 5_000_000) renameSync(path, `${path}.old`);
    return path;
  }
}
