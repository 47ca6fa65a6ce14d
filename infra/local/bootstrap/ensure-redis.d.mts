export interface Machine {
  platform: string;
  userId: number | undefined;
  osRelease: string;
  path: string;
  /** Looked in after the PATH. */
  directories: string[];
  /** What Debian asks before it starts a service. */
  policyFile: string;
}
/** How Redis can be had here: by a package manager that asks nothing, or by the user, who is told how in one line. */
export function planRedis(machine: Machine): { by: 'apt' | 'brew' } | { by: 'user'; line: string };
/** Makes sure that a Redis can be run. Throws an error whose message is for the user. */
export function ensureRedis(options: { say(line: string): void; machine?: Machine }): void;
