import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { takeLock } from '../lock/take-lock.mjs';

const stampName = '.pollkeeper-stamp';

/** The text that the stamp holds when node_modules was made from this package-lock.json, on this kind of machine. */
function stampFor(lockText) {
  const digest = createHash('sha256').update(lockText).digest('hex');
  return `${digest} ${process.platform}-${process.arch}\n`;
}

/**
 * Whether node_modules holds what package-lock.json asks for. The stamp answers in the common case; without it, npm's own
 * list of what it installed is compared, so that a tree made by a plain `npm install` isn't thrown away.
 */
export function packagesAreFresh(root) {
  const lockText = readFileSync(join(root, 'package-lock.json'), 'utf8');
  const modules = join(root, 'node_modules');
  if (readIfThere(join(modules, stampName)) === stampFor(lockText)) return true;
  const installedText = readIfThere(join(modules, '.package-lock.json'));
  if (installedText === undefined || !installedMatches(lockText, installedText)) return false;
  writeFileSync(join(modules, stampName), stampFor(lockText));
  return true;
}

/** Whether every package that the lock asks for is installed at that version, and an optional one at no other version. */
export function installedMatches(lockText, installedText) {
  const wanted = JSON.parse(lockText).packages ?? {};
  const installed = JSON.parse(installedText).packages ?? {};
  for (const [path, entry] of Object.entries(wanted)) {
    if (path === '') continue;
    const found = installed[path];
    if (found === undefined ? !entry.optional : found.version !== entry.version) {
      return false;
    }
  }
  return Object.keys(installed).every((path) => wanted[path] !== undefined);
}

/**
 * Installs the npm packages if they are missing or out of date; says nothing if they are fine. Two runs at once take
 * turns: the second finds the work done.
 */
export async function ensurePackages({ root, say }) {
  if (packagesAreFresh(root)) return;
  const lock = await waitForTurn(join(root, '.local'), say);
  try {
    if (packagesAreFresh(root)) return;
    say('Installing the npm packages (once; about a minute) …');
    const startedAtMs = Date.now();
    await install(root);
    const lockText = readFileSync(join(root, 'package-lock.json'), 'utf8');
    writeFileSync(join(root, 'node_modules', stampName), stampFor(lockText));
    say(`Installed the npm packages in ${Math.round((Date.now() - startedAtMs) / 1000)} s.`);
  } finally {
    lock.release();
  }
}

async function waitForTurn(directory, say) {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const path = join(directory, 'install.lock');
  for (let saidSo = false; ; await sleep(200)) {
    const attempt = takeLock(path);
    if (attempt.taken) return attempt;
    if (!saidSo) say(`Another run (process ${attempt.holderPid}) is installing the npm packages; waiting for it …`);
    saidSo = true;
  }
}

function install(root) {
  const args = ['ci', '--no-audit', '--no-fund', '--include=dev'];
  // Inside `npm start` this is the very npm that was called, which need not be the first one on the PATH.
  const npmPath = process.env.npm_execpath ?? '';
  const sameNpm = basename(npmPath) === 'npm-cli.js' && existsSync(npmPath);
  const [file, argv] = sameNpm ? [process.execPath, [npmPath, ...args]] : ['npm', args];
  return new Promise((resolve, reject) => {
    const child = spawn(file, argv, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
    child.on('error', (error) => reject(new Error(`npm could not be run (${error.message}); Pollkeeper needs npm.`)));
    child.on('close', (code) => {
      if (code === 0) return resolve();
      reject(
        new Error(`${output.trim()}\n\n"npm ${args.join(' ')}" failed (its output is above); nothing was started.`),
      );
    });
  });
}

function readIfThere(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
