import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ensurePackages, installedMatches, packagesAreFresh } from '../../infra/local/bootstrap/ensure-packages.mjs';
import { ensureRedis, type Machine, planRedis } from '../../infra/local/bootstrap/ensure-redis.mjs';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'pollkeeper-bootstrap-'));
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(root, { recursive: true, force: true });
});

function lock(packages: Record<string, object>): string {
  return JSON.stringify({ lockfileVersion: 3, packages });
}
const wanted = lock({ '': { name: 'x' }, 'node_modules/a': { version: '1.0.0' } });

/** An npm that writes down each call, takes a while, and leaves what the lock asks for. */
function stubNpm(exitCode = 0): void {
  const file = join(root, 'npm-cli.js');
  writeFileSync(
    file,
    `const fs = require('fs');
    fs.appendFileSync(${JSON.stringify(join(root, 'calls'))}, process.argv.slice(2).join(' ') + '\\n');
    setTimeout(() => {
      console.log('what npm says');
      if (${exitCode}) process.exit(${exitCode});
      fs.rmSync('node_modules', { recursive: true, force: true });
      fs.mkdirSync('node_modules');
      fs.copyFileSync('package-lock.json', 'node_modules/.package-lock.json');
    }, 300);`,
  );
  vi.stubEnv('npm_execpath', file);
}
const calls = () => readFileSync(join(root, 'calls'), 'utf8').trim().split('\n');

describe('npm packages', () => {
  it('are installed when missing, once, and quietly', async () => {
    writeFileSync(join(root, 'package-lock.json'), wanted);
    stubNpm();
    const lines: string[] = [];
    await ensurePackages({ root, say: (line) => lines.push(line) });
    await ensurePackages({ root, say: (line) => lines.push(line) });
    expect(calls()).toEqual(['ci --no-audit --no-fund --include=dev']);
    expect(lines.join()).not.toContain('what npm says');
    expect(packagesAreFresh(root)).toBe(true);
  });

  it('are installed once when two runs come at the same time', async () => {
    writeFileSync(join(root, 'package-lock.json'), wanted);
    stubNpm();
    const code = `import { ensurePackages } from ${JSON.stringify(moduleUrl('ensure-packages.mjs'))};
      await ensurePackages({ root: ${JSON.stringify(root)}, say: console.log });`;
    const other = import('node:child_process').then(
      ({ execFile }) =>
        new Promise<string>((resolve) => {
          execFile(process.execPath, ['--input-type=module', '-e', code], (_error, out, err) => resolve(out + err));
        }),
    );
    const [said] = await Promise.all([other, ensurePackages({ root, say: () => {} })]);
    expect(calls()).toHaveLength(1);
    expect(said).not.toContain('Error');
    expect(packagesAreFresh(root)).toBe(true);
  });

  it('are installed again when the lock has changed', async () => {
    writeFileSync(join(root, 'package-lock.json'), wanted);
    stubNpm();
    await ensurePackages({ root, say: () => {} });
    writeFileSync(join(root, 'package-lock.json'), wanted.replace('1.0.0', '1.0.1'));
    expect(packagesAreFresh(root)).toBe(false);
    await ensurePackages({ root, say: () => {} });
    expect(calls()).toHaveLength(2);
  });

  it('installed by a plain npm install are left as they are', () => {
    writeFileSync(join(root, 'package-lock.json'), wanted);
    mkdirSync(join(root, 'node_modules'));
    writeFileSync(join(root, 'node_modules', '.package-lock.json'), lock({ 'node_modules/a': { version: '1.0.0' } }));
    expect(packagesAreFresh(root)).toBe(true);
  });

  it('that npm failed to install are reported with what npm said, and the next run tries again', async () => {
    writeFileSync(join(root, 'package-lock.json'), wanted);
    stubNpm(1);
    await expect(ensurePackages({ root, say: () => {} })).rejects.toThrow(/what npm says[\s\S]*failed/);
    stubNpm();
    await ensurePackages({ root, say: () => {} });
    expect(packagesAreFresh(root)).toBe(true);
  });

  it('match only if every needed one is there at its version and no other', () => {
    const other = { 'node_modules/a': { version: '1.0.0' }, 'node_modules/mac': { version: '2.0.0', optional: true } };
    expect(installedMatches(lock(other), lock({ 'node_modules/a': { version: '1.0.0' } }))).toBe(true);
    expect(installedMatches(lock(other), lock({ 'node_modules/mac': { version: '2.0.0' } }))).toBe(false);
    expect(installedMatches(wanted, lock({ 'node_modules/a': { version: '1.0.1' } }))).toBe(false);
    expect(installedMatches(wanted, lock({ ...other }))).toBe(false);
  });
});

describe('Redis', () => {
  const debian = 'PRETTY_NAME="Debian GNU/Linux 13 (trixie)"\nID=debian\n';
  const machine = (given: Partial<Machine> = {}): Machine => ({
    platform: 'linux',
    userId: 0,
    osRelease: debian,
    path: join(root, 'bin'),
    directories: [],
    policyFile: join(root, 'policy-rc.d'),
    ...given,
  });
  const program = (name: string, script = '') => {
    mkdirSync(join(root, 'bin'), { recursive: true });
    writeFileSync(join(root, 'bin', name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(root, 'bin', name), 0o755);
  };

  it.each(['redis-server', 'valkey-server'])('is not installed where %s is there', (name) => {
    program(name);
    program('apt-get', 'exit 1');
    ensureRedis({ say: () => expect.unreachable(), machine: machine() });
  });

  it('is installed by apt as root on Debian, and its service is not started', () => {
    program(
      'apt-get',
      `echo "$@" >> ${root}/apt-calls; [ -x ${root}/policy-rc.d ] && cp /bin/sh ${root}/bin/redis-server`,
    );
    ensureRedis({ say: () => {}, machine: machine() });
    const aptCalls = readFileSync(join(root, 'apt-calls'), 'utf8');
    expect(aptCalls).toMatch(/^update .*\ninstall -y .*redis-server\n$/);
    expect(existsSync(join(root, 'policy-rc.d'))).toBe(false);
  });

  it('says what apt said when apt fails, and leaves nothing behind', () => {
    program('apt-get', 'echo "no network here" >&2; exit 100');
    expect(() => ensureRedis({ say: () => {}, machine: machine() })).toThrow(/no network here[\s\S]*by hand/);
    expect(existsSync(join(root, 'policy-rc.d'))).toBe(false);
  });

  it('is left to the user, in one line, where it can not be installed without a question', () => {
    program('apt-get');
    const lines = [
      planRedis(machine({ userId: 1000 })),
      planRedis(machine({ platform: 'darwin' })),
      planRedis(machine({ osRelease: 'ID=fedora\n' })),
    ].map((plan) => (plan.by === 'user' ? plan.line : ''));
    expect(lines[0]).toContain('sudo apt-get install -y redis-server');
    expect(lines[1]).toContain('brew install redis');
    expect(lines[2]).toContain('redis-server or valkey-server');
    for (const line of lines) expect(line).not.toContain('\n');
  });

  it('is installed by Homebrew on macOS', () => {
    program('brew');
    expect(planRedis(machine({ platform: 'darwin', userId: 501 }))).toEqual({ by: 'brew' });
    program('apt-get');
    expect(planRedis(machine({ osRelease: 'ID=linuxmint\nID_LIKE="ubuntu debian"\n' }))).toEqual({ by: 'apt' });
  });
});

describe('the door', () => {
  it.each(['12.22.12', '18.20.8', '20.18.3'])('tells Node %s in one line that it is too old', (version) => {
    const code = `Object.defineProperty(process.versions, 'node', { value: '${version}' });
      await import(${JSON.stringify(moduleUrl('../bootstrap.mjs'))});`;
    const run = spawnSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' });
    expect(run.status).toBe(1);
    expect(run.stderr).toBe(
      `Pollkeeper needs Node 20.19 or newer; this is Node ${version} (see https://nodejs.org).\n`,
    );
  });

  it('names the commands there are when asked for another', () => {
    const run = spawnSync(process.execPath, ['infra/local/bootstrap.mjs', 'strat'], { encoding: 'utf8' });
    expect(run.status).toBe(1);
    expect(run.stderr).toBe('Unknown command "strat": expected one of start, test.\n');
  });
});

function moduleUrl(name: string): string {
  return new URL(`../../infra/local/bootstrap/${name}`, pathToFileURL(import.meta.filename)).href;
}
