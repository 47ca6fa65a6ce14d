/** What tells a process from a later one with the same number; undefined if there is no such process. */
export function identifyProcess(pid: number): string | undefined;
