import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const serverNames = ['redis-server', 'valkey-server'];

/**
 * The machine as the installer sees it; a test hands in another one.
 * @typedef {{ platform: string, userId: number | undefined, osRelease: string, path: string, directories: string[], policyFile: string }} Machine
 */

/** @returns {Machine} */
function thisMachine() {
  return {
    platform: process.platform,
    userId: process.getuid?.(),
    osRelease: existsSync('/etc/os-release') ? readFileSync('/etc/os-release', 'utf8') : '',
    path: process.env.PATH ?? '',
    directories: ['/usr/bin', '/usr/local/bin', '/opt/homebrew/bin', '/home/linuxbrew/.linuxbrew/bin'],
    policyFile: '/usr/sbin/policy-rc.d',
  };
}

/** Where a program is, looked for on the PATH and then in the given directories; undefined if nowhere. */
function findProgram(name, path, moreDirectories) {
  for (const directory of [...path.split(delimiter), ...moreDirectories]) {
    if (directory === '') continue;
    const file = join(directory, name);
    try {
      accessSync(file, constants.X_OK);
      return file;
    } catch {
      // Not here: the next directory may hold it.
    }
  }
  return undefined;
}

/** How Redis can be had on this machine: by a package manager that needs no question, or by the user, who is told how. */
export function planRedis(machine) {
  const debian = /^(ID|ID_LIKE)=.*\b(debian|ubuntu)\b/m.test(machine.osRelease);
  if (machine.platform === 'linux' && debian && findProgram('apt-get', machine.path, machine.directories)) {
    if (machine.userId === 0) return { by: 'apt' };
    return { by: 'user', line: missing('sudo apt-get install -y redis-server') };
  }
  if (machine.platform === 'darwin') {
    if (findProgram('brew', machine.path, machine.directories)) return { by: 'brew' };
    return { by: 'user', line: missing('brew install redis (after installing Homebrew from https://brew.sh)') };
  }
  if (machine.platform === 'win32')
    return { by: 'user', line: 'Redis does not run on Windows itself: use WSL (wsl --install).' };
  return {
    by: 'user',
    line: missing("your system's package of Redis 7 or Valkey (redis-server or valkey-server on the PATH)"),
  };
}

function missing(what) {
  return `Neither redis-server nor valkey-server was found. Install it: ${what}. Then run this command again.`;
}

/** Makes sure that a redis-server or valkey-server can be run. Throws an error whose message is one line for the user. */
export function ensureRedis({ say, machine = thisMachine() }) {
  const there = () => serverNames.some((name) => findProgram(name, machine.path, machine.directories));
  if (there()) return;
  const plan = planRedis(machine);
  if (plan.by === 'user') throw new Error(plan.line);
  say(`Installing Redis with ${plan.by === 'apt' ? 'apt-get' : 'Homebrew'} (once) …`);
  const program = findProgram(plan.by === 'apt' ? 'apt-get' : 'brew', machine.path, machine.directories);
  if (plan.by === 'apt') withoutStartingServices(machine.policyFile, () => installByApt(program));
  else run(program, ['install', 'redis'], {});
  if (!there()) throw new Error(missing('it by hand, for the package manager left no redis-server on the PATH'));
}

function installByApt(program) {
  const env = { DEBIAN_FRONTEND: 'noninteractive' };
  run(program, ['update', '-qq'], env);
  run(program, ['install', '-y', '-qq', '--no-install-recommends', 'redis-server'], env);
}

/** Debian starts a service when its package is installed, unless this file says no. Ours is a private server, on a free port. */
function withoutStartingServices(policyFile, act) {
  const ours = !existsSync(policyFile);
  if (ours) writeFileSync(policyFile, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  try {
    act();
  } finally {
    if (ours) rmSync(policyFile, { force: true });
  }
}

function run(program, args, env) {
  const done = spawnSync(program, args, { encoding: 'utf8', env: { ...process.env, ...env } });
  if (done.status === 0) return;
  const output = done.error ? done.error.message : `${done.stdout}${done.stderr}`.trim();
  const what = `"${program} ${args.join(' ')}" failed (its output is above)`;
  throw new Error(`${output}\n\n${what}. Install redis-server by hand, then run this command again.`);
}
