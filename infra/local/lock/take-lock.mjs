import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { identifyProcess } from './process-identity.mjs';

/**
 * Takes a lock file for this process. The lock of a process that has ended (killed, power cut) is taken over.
 * @returns `{taken: true, release()}`, or `{taken: false, holderPid}` while another process holds it.
 */
export function takeLock(path) {
  const mine = `${path}.${process.pid}`;
  const text = JSON.stringify({ pid: process.pid, identity: identifyProcess(process.pid) });
  writeFileSync(mine, text, { mode: 0o600 });
  try {
    for (let attempt = 0; attempt < 50; attempt++) {
      if (tryLink(mine, path)) return { taken: true, release: () => releaseLock(path, text) };
      const holder = readHolder(path);
      if (holder !== undefined && isAlive(holder)) return { taken: false, holderPid: holder.pid };
      if (holder !== undefined) moveAside(path, `${path}.gone.${process.pid}`);
    }
    throw new Error(`The lock ${path} could not be taken: remove that file if nothing is running.`);
  } finally {
    rmSync(mine, { force: true });
  }
}

/** A hard link is made only if the name is free, with its whole content at once: no one ever reads half a lock. */
function tryLink(from, to) {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
}

/** Takes a dead lock away. If a live one had come into its place meanwhile, that one is put back. */
function moveAside(path, aside) {
  try {
    renameSync(path, aside);
  } catch {
    return;
  }
  const moved = readHolder(aside);
  if (moved !== undefined && isAlive(moved)) tryLink(aside, path);
  rmSync(aside, { force: true });
}

function isAlive(holder) {
  return holder.identity !== undefined && identifyProcess(holder.pid) === holder.identity;
}

/** The process named in the lock; a lock that can't be understood counts as one whose holder is gone. */
function readHolder(path) {
  let text;
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
  try {
    const { pid, identity } = JSON.parse(text);
    return { pid, identity };
  } catch {
    return { pid: 0, identity: undefined };
  }
}

function releaseLock(path, text) {
  try {
    if (readFileSync(path, 'utf8') === text) rmSync(path, { force: true });
  } catch {
    // Already gone, with the folder: nothing left to give back.
  }
}
