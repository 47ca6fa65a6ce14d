import { readdirSync, readFileSync } from 'node:fs';

/* What Linux counts for processes. The unit of its times is 1/100 s on every platform that Node runs on. */
const ticksPerSecond = 100;

export interface ProcessUsage {
  /** User and system time of the process and of its children that have ended, s. */
  cpuSeconds: number;
  /** The most memory it ever had resident, bytes. */
  peakBytes: number;
}

/** Undefined when the process is gone. */
export function usageOf(pid: number): ProcessUsage | undefined {
  try {
    const cpuSeconds = cpuOf(statFields(pid));
    const peak = /^VmHWM:\s*(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return { cpuSeconds, peakBytes: Number(peak ?? 0) * 1024 };
  } catch {
    return undefined;
  }
}

/** User and system time of a process and of everything below it, ended children included, s. */
export function treeCpuSeconds(root: number): number {
  const parents = new Map<number, number>();
  const cpu = new Map<number, number>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const fields = statFields(Number(name));
      parents.set(Number(name), Number(fields[1]));
      cpu.set(Number(name), cpuOf(fields));
    } catch {
      // It ended while we looked; its parent counts it from now on.
    }
  }
  const within = (pid: number | undefined): boolean =>
    pid !== undefined && (pid === root || (pid > 1 && within(parents.get(pid))));
  return [...cpu].reduce((sum, [pid, seconds]) => (within(pid) ? sum + seconds : sum), 0);
}

/** Time that all programs of the machine have run so far, s. Interrupts are not in it: they can't be told apart. */
export function machineCpuSeconds(): number {
  const [, user, nice, system] = (readFileSync('/proc/stat', 'utf8').split('\n', 1)[0] ?? '').split(/ +/);
  return (Number(user) + Number(nice) + Number(system)) / ticksPerSecond;
}

/** The fields after the command's name, which may hold blanks itself: [0] is the state, [1] the parent. */
function statFields(pid: number): string[] {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return text.slice(text.lastIndexOf(')') + 2).split(' ');
}

function cpuOf(fields: readonly string[]): number {
  return [11, 12, 13, 14].reduce((sum, place) => sum + Number(fields[place]), 0) / ticksPerSecond;
}
