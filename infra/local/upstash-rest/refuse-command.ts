import { type CommandArgument, type Reply, StatusReply } from './resp.ts';

/** Blocking, transaction, connection, subscription and operator commands: none of them makes sense over a stateless request. */
const notOverRest = new Set(
  [
    'BLPOP BRPOP BRPOPLPUSH BLMOVE BLMPOP BZPOPMIN BZPOPMAX BZMPOP',
    'MULTI EXEC DISCARD WATCH UNWATCH',
    'AUTH HELLO SELECT QUIT RESET CLIENT READONLY READWRITE ASKING',
    'SUBSCRIBE PSUBSCRIBE SSUBSCRIBE UNSUBSCRIBE PUNSUBSCRIBE SUNSUBSCRIBE MONITOR',
    'ACL BGREWRITEAOF BGSAVE CLUSTER DEBUG FAILOVER LASTSAVE LATENCY LOLWUT MIGRATE MODULE MOVE PFDEBUG PFSELFTEST PSYNC',
    'REPLCONF REPLICAOF RESTORE-ASKING ROLE SAVE SHUTDOWN SLAVEOF SLOWLOG SWAPDB SYNC',
  ].flatMap((line) => line.split(' ')),
);

const subcommandsAllowed = new Map([
  ['MEMORY', new Set(['USAGE'])],
  ['SCRIPT', new Set(['LOAD', 'EXISTS', 'FLUSH', 'KILL'])],
]);

/** The refusal's text, or undefined when the command may go to Redis. `name` is in capitals. */
export function refuseCommand(name: string, command: readonly CommandArgument[]): string | undefined {
  if (notOverRest.has(name)) return notAvailable(name);
  const subcommand = String(command[1] ?? '').toUpperCase();
  const allowed = subcommandsAllowed.get(name);
  if (allowed !== undefined && !allowed.has(subcommand)) return notAvailable(`${name} ${subcommand}`);
  if (name === 'CONFIG') return refuseConfig(subcommand, command);
  const blocks = (name === 'XREAD' || name === 'XREADGROUP') && blocksBeforeStreams(command);
  return blocks ? notAvailable(`${name} BLOCK`) : undefined;
}

export function notAvailable(name: string): string {
  return `ERR Command is not available: '${name.trim()}'`;
}

function refuseConfig(subcommand: string, command: readonly CommandArgument[]): string | undefined {
  const setting = String(command[2] ?? '').toLowerCase();
  const length = subcommand === 'GET' ? 3 : subcommand === 'SET' ? 4 : 0;
  const allowed = command.length === length && setting === 'notify-keyspace-events';
  return allowed ? undefined : notAvailable(`CONFIG ${subcommand} ${setting}`);
}

function blocksBeforeStreams(command: readonly CommandArgument[]): boolean {
  for (const argument of command.slice(1)) {
    const word = String(argument).toUpperCase();
    if (word === 'STREAMS') return false;
    if (word === 'BLOCK') return true;
  }
  return false;
}

/** Names (`get`, `xinfo|stream`, in small letters) of the commands Redis has, each with whether a read-only token may use it. */
export type ReadableCommands = ReadonlyMap<string, boolean>;

const readableWithoutKeys = new Set(['ping', 'echo', 'time']);

/** Builds the table from the reply to `COMMAND`: read-only by its flags, and not one of the dangerous ones nor SCAN. */
export function readableCommands(commandReply: Reply): ReadableCommands {
  const table = new Map<string, boolean>();
  const add = (entry: Reply) => {
    if (!Array.isArray(entry)) return;
    const name = String(entry[0]).toLowerCase();
    const readable = words(entry[2]).includes('readonly') && !words(entry[6]).includes('@dangerous') && name !== 'scan';
    table.set(name, readable || readableWithoutKeys.has(name));
    const subcommands = entry[9];
    if (Array.isArray(subcommands)) subcommands.forEach(add);
  };
  if (Array.isArray(commandReply)) commandReply.forEach(add);
  return table;
}

/** The refusal for a read-only token, or undefined. A command Redis does not have goes through, for its own error. */
export function refuseWrite(
  table: ReadableCommands,
  name: string,
  command: readonly CommandArgument[],
): string | undefined {
  const lower = name.toLowerCase();
  const readable = table.get(`${lower}|${String(command[1] ?? '').toLowerCase()}`) ?? table.get(lower) ?? true;
  return readable ? undefined : `NOPERM this user has no permissions to run the '${lower}' command or its subcommand`;
}

function words(reply: Reply | undefined): string[] {
  if (!Array.isArray(reply)) return [];
  return reply.map((word) => (word instanceof StatusReply ? word.text : String(word)));
}
