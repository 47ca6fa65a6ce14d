/** Whether node_modules under `root` holds what its package-lock.json asks for. */
export function packagesAreFresh(root: string): boolean;
/** Whether the installed packages (npm's hidden lock) are those of the lock. */
export function installedMatches(lockText: string, installedText: string): boolean;
/** Installs the npm packages if they are missing or out of date. Throws an error whose message is for the user. */
export function ensurePackages(options: { root: string; say(line: string): void }): Promise<void>;
