/** Takes a lock file for this process; the lock of a process that has ended is taken over. */
export function takeLock(path: string): { taken: true; release(): void } | { taken: false; holderPid: number };
