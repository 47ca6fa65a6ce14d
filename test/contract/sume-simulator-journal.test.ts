import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SumeSimulatorOptions } from '../../infra/local/sume-simulator/settings.ts';
import { startSumeSimulator } from '../../infra/local/sume-simulator/start.ts';
import { addFault, ask, create, readStatus, testClock } from '../support/sume-requests.ts';

let dataDir: string;
const children: ChildProcess[] = [];

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'sume-simulator-'));
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  rmSync(dataDir, { recursive: true, force: true });
});

/** A simulator in a process of its own, which can be killed for real. */
async function startProcess(options: SumeSimulatorOptions): Promise<{ url: string; kill: () => Promise<void> }> {
  const start = new URL('../../infra/local/sume-simulator/start.ts', import.meta.url).href;
  const code = `import { startSumeSimulator } from ${JSON.stringify(start)};
    console.log((await startSumeSimulator(${JSON.stringify({ dataDir, ...options })})).url);`;
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  const [url] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  return {
    url,
    kill: async () => {
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

describe('the journal of the Sume simulator', () => {
  it('keeps jobs, ledger, queue and keys over a SIGKILL in the middle of the creates', async () => {
    const options = { timeScale: 1, renderSeconds: 3_600, limits: { createsPerMinute: 1_000, processing: 2 } };
    const first = await startProcess(options);
    const kept = await create(first, 'kept');
    await ask(first, 'POST', `/v1/jobs/${kept.json.id}/cancel`);
    await addFault(first, { kind: 'hang', route: 'create', afterEffect: true });
    const lost = create(first, 'lost').catch(() => 'no reply');
    while ((await ask(first, 'GET', '/__control/report')).json.billedClips < 2) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    await first.kill();
    expect(await lost).toBe('no reply');

    const second = await startProcess(options);
    const report = (await ask(second, 'GET', '/__control/report')).json;
    expect(report).toMatchObject({ billedClips: 2, jobs: { processing: 1, canceled: 1 }, createsReceived: 0 });
    const again = await create(second, 'lost');
    expect(again.json.idempotency_hit).toBe(true);
    expect((await create(second, 'kept')).json).toMatchObject({ id: kept.json.id, status: 'canceled' });
    const fresh = await create(second, 'fresh');
    expect([fresh.status, new Set([kept.json.id, again.json.id, fresh.json.id]).size]).toEqual([202, 3]);
    expect((await readStatus(second, fresh.json.id)).json.status).toBe('processing');
    expect((await create(second, 'one-more')).json.status).toBe('queued');
    expect((await ask(second, 'GET', '/v1/balance')).json.data.reserved_usd_micros).toBe(3 * 1_512_000);
    expect(readFileSync(join(dataDir, 'sume-simulator.jsonl'), 'utf8')).not.toContain('key-of-tests');
  });

  it('lets the clock go on while the process is down: jobs end, and queued ones start, in between', async () => {
    const clock = testClock();
    const options = { ...clock, dataDir, renderSeconds: 60, limits: { processing: 1 } };
    const before = await startSumeSimulator(options);
    const ids = [];
    for (let index = 0; index < 3; index += 1) ids.push((await create(before)).json.id);
    await before.close();

    clock.ms += 90_000;
    const after = await startSumeSimulator(options);
    const states = await Promise.all(ids.map(async (id) => (await readStatus(after, id)).json.status));
    expect(states).toEqual(['completed', 'processing', 'queued']);
    expect(after.report().usdMicros).toEqual({ reserved: 2 * 1_512_000, captured: 1_512_000 });
    const result = await ask(after, 'GET', `/v1/jobs/${ids[0]}/result`);
    expect((await fetch(result.json.result.video.url)).status).toBe(200);
    clock.ms += 30_000;
    expect((await readStatus(after, ids[2])).json.status).toBe('processing');
    await after.close();
  });

  it('drops a last line that was torn by a kill, and goes on writing after it', async () => {
    const before = await startSumeSimulator({ dataDir });
    const { id } = (await create(before, 'a')).json;
    await before.close();
    appendFileSync(join(dataDir, 'sume-simulator.jsonl'), '{"kind":"created","atMs":17');
    const torn = await startSumeSimulator({ dataDir });
    expect(torn.report().billedClips).toBe(1);
    const second = (await create(torn, 'b')).json.id;
    await torn.close();
    const after = await startSumeSimulator({ dataDir });
    expect((await create(after, 'a')).json.id).toBe(id);
    expect((await create(after, 'b')).json.id).toBe(second);
    await after.close();
  });

  it('names file and line when it is damaged anywhere else', async () => {
    writeFileSync(join(dataDir, 'sume-simulator.jsonl'), '{"kind":"opened","atMs":0,"seed":"s","lanes":4}\nnonsense\n');
    await expect(startSumeSimulator({ dataDir })).rejects.toThrow(/sume-simulator\.jsonl, line 2 is not JSON/);
  });
});
