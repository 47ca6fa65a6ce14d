import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { createContext, runInContext } from 'node:vm';
import { transform } from 'esbuild';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { answer, json, type ScriptedServer, startScriptedServer } from '../support/scripted-server.ts';

/* The client as its users get it: packed, unpacked, and imported by the package's name. */

const run = promisify(execFile);
const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
let folder: string;
let packed: string[];
let server: ScriptedServer;

const ended = json({ id: 'job_1', state: 'completed', finished_at: '2027-01-15T08:00:00.000Z' }, 200, { etag: '"2"' });
/** The same in every runtime: a submit with a failure on its way, its end, and a webhook. Gives what came of it. */
const useClient = `async ({ createClient, verifyWebhook, PollkeeperError }, baseUrl, headers, secret) => {
  const client = createClient({ baseUrl, token: 'tok_0123456789', sleep: async () => {} });
  const job = await client.submitAndWait({ model: 'm', prompt: 'p' });
  const error = await client.get('job_2').catch((error) => error);
  const verified = await verifyWebhook({ payload: '{}', headers, secret });
  return [job.state, error instanceof PollkeeperError, error.status, verified];
}`;
const outcome = ['completed', true, 404, true];

function script(): void {
  server.script(answer(502), json({ id: 'job_1', state: 'waiting' }, 202), ended, answer(404));
}

function webhookHeaders(): Record<string, string> {
  const at = new Date();
  const timestamp = String(Math.floor(at.getTime() / 1_000));
  const signature = new Webhook(secret).sign('evt_1', at, '{}');
  return { 'webhook-id': 'evt_1', 'webhook-timestamp': timestamp, 'webhook-signature': signature };
}

beforeAll(async () => {
  server = await startScriptedServer();
  folder = await mkdtemp(join(tmpdir(), 'pollkeeper-client-'));
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder]);
  const told = JSON.parse(stdout.slice(stdout.indexOf('['))) as [{ filename: string; files: { path: string }[] }];
  packed = told[0].files.map(({ path }) => path);
  await mkdir(join(folder, 'node_modules/pollkeeper'), { recursive: true });
  const archive = join(folder, told[0].filename);
  await run('tar', ['-xzf', archive, '--strip-components=1', '-C', join(folder, 'node_modules/pollkeeper')]);
});

afterAll(async () => {
  await server.close();
  await rm(folder, { recursive: true, force: true });
});

describe('the package', () => {
  it('has the client and its types, and nothing of what runs on AWS', () => {
    expect(packed).toEqual(
      expect.arrayContaining(['.build/client/entry.js', '.build/client/entry.d.ts', 'package.json']),
    );
    expect(
      packed.filter((path) => !/^(\.build\/client\/[\w.-]+|package\.json|README\.md|LICENSE)$/.test(path)),
    ).toEqual([]);
  });

  it('has a client that imports nothing and names no global of Node’s own', async () => {
    const code = await readFile(join(folder, 'node_modules/pollkeeper/.build/client/entry.js'), 'utf8');
    expect(code).not.toMatch(/^\s*import\b|\bimport\(|\brequire\(|node:|\bprocess\.|\bBuffer\b/m);
  });

  it('works in plain Node', async () => {
    script();
    const given = [server.url, webhookHeaders(), secret].map((value) => JSON.stringify(value)).join(', ');
    const code = `import * as all from 'pollkeeper/client'; console.log(JSON.stringify(await (${useClient})(all, ${given})));`;
    await writeFile(join(folder, 'use.mjs'), code);
    const { stdout } = await run(process.execPath, ['use.mjs'], { cwd: folder, env: {} });
    expect(JSON.parse(stdout)).toEqual(outcome);
  });

  it('works where there is nothing but what browsers and edge runtimes share', async () => {
    script();
    const code = await readFile(join(folder, 'node_modules/pollkeeper/.build/client/entry.js'), 'utf8');
    const classic = await transform(code, { format: 'iife', globalName: 'client' });
    const shared = { fetch, crypto, URL, URLSearchParams, AbortController, TextEncoder, TextDecoder, atob };
    const context = createContext({ ...shared, setTimeout, clearTimeout });
    runInContext(classic.code, context);
    const use = runInContext(`(...given) => (${useClient})(client, ...given)`, context);
    expect([...(await use(server.url, webhookHeaders(), secret))]).toEqual(outcome);
  });

  it('has types that a strict user of it compiles with, and that know a wrong field', async () => {
    const right = `
      import { createClient, readWebhook, type Job } from 'pollkeeper/client';
      const client = createClient({ baseUrl: 'https://a.example', token: 't' });
      export const job: Job = await client.submitAndWait({ model: 'm', prompt: 'p' }, { batch: 'b', timeoutMs: 1_000 });
      for await (const { id, state } of client.list({ state: 'completed' })) console.log(id, state === 'completed');
      const event = await readWebhook({ payload: '', headers: new Headers(), secret: [''] });
      if (event?.type === 'batch.completed') console.log(event.data.name);
      else console.log(event?.data.finished_at);`;
    const wrong = `
      import { createClient } from 'pollkeeper/client';
      const client = createClient({ baseUrl: 'https://a.example', token: 't' });
      client.list({ state: 'done' });`;
    await writeFile(join(folder, 'right.mts'), right);
    await writeFile(join(folder, 'wrong.mts'), wrong);
    const compiler = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc');
    const flags = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2022', '--lib', 'es2022,dom'];
    const { stdout } = await run(process.execPath, [compiler, ...flags, 'right.mts', 'wrong.mts'], {
      cwd: folder,
    }).catch((error: { stdout: string }) => error);
    expect(stdout.split('\n').filter((line) => line.includes('error'))).toEqual([
      expect.stringMatching(/^wrong\.mts\(4,.*"done"/),
    ]);
  });
});
