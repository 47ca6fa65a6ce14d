import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';
import { ensurePackages } from './ensure-packages.mjs';
import { ensureRedis } from './ensure-redis.mjs';

const root = fileURLToPath(new URL('../../../', import.meta.url));

/** What each command runs, once the packages are there. */
const commands = {
  start: ['--import', 'tsx', 'infra/local/start.ts'],
  test: ['node_modules/vitest/vitest.mjs', 'run'],
};

/**
 * Sets the machine up as far as the command needs it, then runs the command and ends as it ends.
 * @param {string[]} argv the command's name and its own arguments
 */
export async function runCommand(argv) {
  const [name = '', ...args] = argv;
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command === undefined) {
    return stop(`Unknown command "${name}": expected one of ${Object.keys(commands).join(', ')}.`);
  }
  const say = (line) => process.stderr.write(`${line}\n`);
  const asksOnly = args.includes('--help') || args.includes('-h');
  const ownRedis = name === 'start' && process.env.UPSTASH_REDIS_REST_URL;
  try {
    await ensurePackages({ root, say });
    if (!asksOnly && !ownRedis) ensureRedis({ say });
  } catch (error) {
    return stop(error instanceof Error ? error.message : String(error));
  }
  runChild([...command, ...args]);
}

function stop(line) {
  process.stderr.write(`${line}\n`);
  process.exitCode = 1;
}

/**
 * The child gets a session of its own, so that one Ctrl-C reaches it once, from here. This process may get it twice: from the
 * terminal, which signals every process of the foreground group, and from npm, which passes SIGINT and SIGTERM on to the
 * process of its script. That is this one, because the scripts in package.json say `exec`: no shell stands between.
 */
function runChild(argv) {
  const child = spawn(process.execPath, argv, {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    detached: true,
  });
  let passedOn = false;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      if (passedOn) return;
      passedOn = true;
      child.kill(signal);
    });
  }
  child.on('error', (error) => stop(`Could not run ${argv.join(' ')}: ${error.message}`));
  child.on('exit', (code, signal) => {
    process.exitCode = signal === null ? (code ?? 1) : 128 + (constants.signals[signal] ?? 0);
    if (child.connected) child.disconnect();
  });
}
