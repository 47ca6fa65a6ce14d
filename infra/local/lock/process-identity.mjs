import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/**
 * What tells a process from a later one that got the same number: the moment it started. Undefined if there is no such process
 * (a zombie, which has ended and only waits to be collected, counts as gone).
 */
export function identifyProcess(pid) {
  if (!Number.isSafeInteger(pid) || pid < 1) return undefined;
  return process.platform === 'linux' ? fromProc(pid) : fromPs(pid);
}

function fromProc(pid) {
  let text;
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return undefined;
  }
  // The name, in brackets, may hold anything, even a bracket: count the fields from the last one.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19];
}

function fromPs(pid) {
  const answer = spawnSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], {
    encoding: 'utf8',
    env: { ...process.env, LC_ALL: 'C' },
  });
  const line = (answer.stdout ?? '').trim();
  if (line === '' || line.startsWith('Z')) return undefined;
  return line.split(/\s+/).slice(1).join(' ');
}
