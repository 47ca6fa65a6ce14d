import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { afterEach, expect, it } from 'vitest';
import { descendantsOf, type KnownProcess, stillAlive, until } from '../support/start-process.ts';

/* `npm run chaos` in small. Its full size takes minutes and is run by hand. */

let child: ChildProcess | undefined;

function startChaos(...args: string[]) {
  const started = spawn(process.execPath, ['--import', 'tsx', 'test/chaos/run.ts', '--quick', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child = started;
  const said = { text: '' };
  started.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    said.text += chunk;
  });
  return { child: started, said, stdout: text(started.stdout), ended: once(started, 'exit') };
}

afterEach(() => {
  child?.kill('SIGTERM');
});

it('loses nothing, bills nothing twice and reads nothing twice at once, with drains and the API killed', async () => {
  const run = startChaos('--jobs', '20', '--kills', '3', '--seed', 'smoke', '--json');
  const [code] = await run.ended;
  expect(JSON.parse(await run.stdout), run.said.text).toMatchObject({
    ...{ failed: [], submitted: 20, lost: 0, billedClips: 20, duplicateReads: 0, earlyReads: 0, kills: 3 },
    ...{ unfinished: 0, seed: 'smoke', killed: { drain: 2, api: 1 } },
  });
  expect(code).toBe(0);
});

it('ends all its processes when it is interrupted', async () => {
  const run = startChaos('--jobs', '20', '--kills', '0');
  let processes: KnownProcess[] = [];
  const isUp = () => {
    processes = descendantsOf(run.child.pid as number);
    return processes.filter(({ command }) => command.includes('run-function.mjs')).length >= 2;
  };
  await until(isUp, 'two drains');
  expect(processes.some(({ command }) => /redis-server|valkey-server/.test(command))).toBe(true);
  run.child.kill('SIGINT');
  expect(await run.ended).toEqual([130, null]);
  expect(stillAlive(processes)).toEqual([]);
  expect(run.said.text).toContain('Stopped; every process that was started is ended.');
});
