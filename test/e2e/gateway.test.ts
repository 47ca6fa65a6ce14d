import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Gateway, startGateway } from '../../infra/local/gateway/gateway.ts';

/* What the emulated gateway does to requests and invocations, seen with functions that only tell what reached them. */

const stubs = {
  api: `
    import { createHash } from 'node:crypto';
    export const handler = async (event, context) => {
      const bytes = Buffer.from(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8');
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      const seen = { ...event, body: undefined, sha256, env: process.env, remainingMs: context.getRemainingTimeInMillis() };
      return { statusCode: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify(seen) };
    };`,
  authorize: `
    export const handler = async (event) => ({
      isAuthorized: true,
      context: { owner: event.headers.authorization ?? '', version: event.version },
    });`,
  drain: `
    export const handler = async (event) => {
      console.log('drain got ' + JSON.stringify(event));
      if (event.how === 'throw') throw new Error('thrown on purpose');
      if (event.how === 'reject') Promise.reject(new Error('rejected on purpose'));
      if (event.how === 'crash') setTimeout(() => { throw new Error('crashed on purpose'); });
      if (event.how) await new Promise((resolve) => setTimeout(resolve, 100));
    };`,
  sweep: `export const handler = async () => {};`,
};

type Answer = { status: number; text: string };
type Seen = {
  headers: Record<string, string>;
  rawPath: string;
  isBase64Encoded: boolean;
  requestContext: { authorizer: { lambda?: { owner: string; version: string } } };
  sha256: string;
  env: Record<string, string>;
  remainingMs: number;
};

let functionsDir: string;
let logFile: string;
let gateway: Gateway;

beforeAll(async () => {
  functionsDir = await mkdtemp(join(tmpdir(), 'pollkeeper-gateway-'));
  logFile = join(functionsDir, 'gateway.log');
  for (const [name, code] of Object.entries(stubs)) {
    await mkdir(join(functionsDir, name));
    await writeFile(join(functionsDir, name, 'index.mjs'), code);
  }
  process.env.AWS_PROFILE = 'somebody';
  gateway = await startGateway({
    functionsDir,
    logFile,
    stage: 'e2e',
    env: { TABLE_NAME: 'a-table', SUME_API_KEY: 'k' },
  });
}, 60_000);

afterAll(async () => {
  delete process.env.AWS_PROFILE;
  await gateway.close();
  await rm(functionsDir, { recursive: true, force: true });
});

/** Sends the path and header lines as they are; fetch would tidy them first. */
function send(
  path: string,
  options: { method?: string; headers?: string[]; body?: Buffer | string } = {},
): Promise<Answer> {
  const { promise, resolve, reject } = withResolvers<Answer>();
  const headers = ['Host', '127.0.0.1', ...(options.headers ?? [])];
  if (options.body !== undefined) headers.push('Content-Length', `${Buffer.byteLength(options.body)}`);
  const outgoing = request(gateway.url, { path, method: options.method ?? 'GET', headers, agent: false });
  outgoing.on('error', reject).on('response', (response) => {
    let text = '';
    response.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
    response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
  });
  outgoing.end(options.body);
  return promise;
}

async function seenBy(path: string, options?: Parameters<typeof send>[1]): Promise<Seen> {
  const answer = await send(path, options);
  expect(answer.status, answer.text).toBe(200);
  return JSON.parse(answer.text);
}

async function invoke(name: string, event: object): Promise<number> {
  const response = await fetch(`${gateway.lambdaUrl}/2015-03-31/functions/pollkeeper-e2e-${name}/invocations`, {
    method: 'POST',
    headers: { 'x-amz-invocation-type': 'Event' },
    body: JSON.stringify(event),
  });
  await response.text();
  return response.status;
}

async function until(what: string, holds: () => boolean | Promise<boolean>, deadlineMs: number): Promise<void> {
  const endMs = Date.now() + deadlineMs;
  while (!(await holds())) {
    if (Date.now() > endMs) throw new Error(`Not within ${deadlineMs} ms: ${what}\n${gateway.logTail().join('\n')}`);
    await pause(20);
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

function withResolvers<T>() {
  let resolve!: (value: T) => void;
  let reject!: (reason: unknown) => void;
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}

describe('the emulated gateway', () => {
  it('T131 asks the authorizer with lower-case header names, whatever the client wrote', async () => {
    for (const name of ['Authorization', 'authorization', 'AUTHORIZATION']) {
      const seen = await seenBy('/v1/jobs', { headers: [name, 'Bearer one'] });
      expect(seen.requestContext.authorizer.lambda).toEqual({ owner: 'Bearer one', version: '2.0' });
    }
  });

  it('T131 asks the authorizer about a request without a token too, and lets the API answer', async () => {
    const seen = await seenBy('/v1/jobs');
    expect(seen.requestContext.authorizer.lambda).toEqual({ owner: '', version: '2.0' });
  });

  it('T131 has no header by which a client overrules the authorizer', async () => {
    const override = ['sls-offline-authorizer-override', JSON.stringify({ lambda: { owner: 'anybody' } })];
    const seen = await seenBy('/v1/jobs', { headers: [...override, 'Authorization', 'Bearer two'] });
    expect(seen.requestContext.authorizer.lambda?.owner).toBe('Bearer two');
  });

  it('T66 joins a header that is sent twice by a comma, as API Gateway does', async () => {
    const seen = await seenBy('/v1/jobs', { headers: ['Idempotency-Key', 'a', 'idempotency-key', 'b'] });
    expect(seen.headers['idempotency-key']).toBe('a,b');
  });

  it('gives the functions what it was told and what serverless.yml says, and nothing of the caller', async () => {
    const { env, remainingMs } = await seenBy('/');
    expect(env).toMatchObject({
      STAGE: 'e2e',
      TABLE_NAME: 'a-table',
      SUME_API_KEY: 'k',
      SECRETS_PREFIX: '/pollkeeper/e2e',
      DRAIN_FUNCTION_NAME: 'pollkeeper-e2e-drain',
      LAMBDA_ENDPOINT: gateway.lambdaUrl,
      AWS_ACCESS_KEY_ID: 'local',
    });
    expect(env).not.toHaveProperty('AWS_PROFILE');
    expect(env).not.toHaveProperty('VITEST');
    expect(env.ACCOUNTS).toBe('[{"id":"sume"}]');
    // What serverless.yml has only when it is asked for.
    for (const name of ['PRICES', 'SPENDING_CAPS', 'ADAPTIVE_FIRST_READ']) expect(env[name] ?? '', name).toBe('');
    expect(remainingMs).toBeGreaterThan(14_000);
  });

  it('hands a 5 MB body on whole, and a binary one in base64', async () => {
    const large = Buffer.alloc(5 * 1024 * 1024, 'é');
    const text = await seenBy('/v1/jobs', {
      method: 'POST',
      headers: ['Content-Type', 'application/json'],
      body: large,
    });
    expect(text).toMatchObject({ sha256: sha256(large), isBase64Encoded: false });
    const binary = Buffer.from([0, 255, 254, 1]);
    const type = ['Content-Type', 'application/octet-stream'];
    const base64 = await seenBy('/v1/jobs', { method: 'POST', headers: type, body: binary });
    expect(base64).toMatchObject({ sha256: sha256(binary), isBase64Encoded: true });
  });

  it.each([
    ['/v1/jobs/a%2Fb%3Fx', 200],
    ['/v1/jobs/%F0%9F%98%80', 200],
    ['/v1/jobs/%00', 200],
    ['/v1/jobs/%2e%2e', 200],
    [`/v1/jobs/${'a'.repeat(1024)}`, 200],
    ['//elsewhere.example/v1/jobs', 200],
    ['/v1/jobs?limit=%zz&state=', 200],
    ['/v1/jobs/%zz', 400],
    ['/v1/jobs/%ff', 400],
    [`/v1/jobs/${'a'.repeat(20_000)}`, 400],
  ])('answers the odd path %.40s with %i', async (path, status) => {
    expect((await send(path)).status).toBe(status);
  });

  it('refuses 11 MB with a 413 and a header block of 17 KB with a 4xx', async () => {
    const large = await send('/v1/jobs', { method: 'POST', body: Buffer.alloc(11 * 1024 * 1024) });
    expect(large.status).toBe(413);
    const wide = await send('/v1/jobs', { headers: ['X-Wide', 'a'.repeat(17_000)] });
    expect(wide.status).toBeGreaterThanOrEqual(400);
    expect(wide.status).toBeLessThan(500);
  });

  it('T126 starts a drain at the full minute, and reports no timeout that did not happen', async () => {
    const printed = () => readFile(logFile, 'utf8');
    await seenBy('/v1/jobs');
    const apiTimeoutAtMs = Date.now() + 15_000;
    await until('a scheduled drain', async () => (await printed()).includes('"detail-type":"Scheduled Event"'), 65_000);
    await until('its end', async () => (await printed()).includes('invoked scheduled function: [drain]'), 5_000);
    // The emulator's own timers run on after an answer: by now those of the first requests have gone off.
    await until('the timeouts of answered requests', () => Date.now() > apiTimeoutAtMs + 500, 20_000);
    expect(await printed()).not.toMatch(/lambda timeout|timed out/i);
  }, 95_000);

  it('stays up when an asynchronous invocation throws, leaves a promise rejected, or crashes its worker', async () => {
    for (const how of ['throw', 'reject', 'crash']) expect(await invoke('drain', { how })).toBe(202);
    const printed = async () => await readFile(logFile, 'utf8');
    for (const what of ['thrown on purpose', 'rejected on purpose', 'crashed on purpose']) {
      await until(what, async () => (await printed()).includes(what), 10_000);
    }
    await seenBy('/v1/jobs');
    expect(isRunning(gateway.pid)).toBe(true);
  });

  it('says why it could not start', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const address = taken.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    await expect(startGateway({ functionsDir, port })).rejects.toThrow(/EADDRINUSE/);
    taken.close();
  }, 60_000);

  it('ends with the process that started it, even if that one is killed', async () => {
    const script = join(functionsDir, 'start.mts');
    const module = new URL('../../infra/local/gateway/gateway.ts', import.meta.url).href;
    await writeFile(
      script,
      `import { startGateway } from ${JSON.stringify(module)};
       const { pid } = await startGateway({ functionsDir: ${JSON.stringify(functionsDir)} });
       console.log(pid);`,
    );
    const starter = spawn(process.execPath, ['--import', 'tsx', script], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [line] = await once(starter.stdout, 'data');
    const pid = Number(String(line));
    expect(isRunning(pid)).toBe(true);
    starter.kill('SIGKILL');
    await until(`process ${pid} is gone`, () => !isRunning(pid), 5_000);
  }, 60_000);

  it('is gone when closed', async () => {
    const closing = await startGateway({ functionsDir });
    await closing.close();
    expect(await closing.exited).toEqual({ code: 0, signal: null });
    expect(isRunning(closing.pid)).toBe(false);
  }, 60_000);
});

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
