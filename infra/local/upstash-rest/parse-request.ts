import type { CommandArgument } from './resp.ts';
import type { AskedCommand } from './run-commands.ts';

/** `single` has exactly one command. */
export type AskedRequest = { kind: 'single' | 'pipeline' | 'transaction'; commands: AskedCommand[] };

export type Malformed = { kind: 'malformed'; error: string };

/** A request's path and query, still percent-encoded. `pieces` has no `_token`, which is taken out into `token`. */
export type Target = { path: string; pieces: [name: string, value: string | undefined][]; token: string | undefined };

/** Splits by hand: `URL` would resolve `..` and so lose such a key. */
export function readTarget(url: string): Target {
  const queryStart = url.indexOf('?');
  const path = queryStart === -1 ? url : url.slice(0, queryStart);
  const query = queryStart === -1 ? '' : url.slice(queryStart + 1);
  const target: Target = { path, pieces: [], token: undefined };
  for (const part of query.split('&')) {
    if (part === '') continue;
    const equals = part.indexOf('=');
    const name = equals === -1 ? part : part.slice(0, equals);
    const value = equals === -1 ? undefined : part.slice(equals + 1);
    if (name === '_token') target.token = String(decodePercent((value ?? '').replaceAll('+', ' ')));
    else target.pieces.push([name, value]);
  }
  return target;
}

/** Body style (`/`, `/pipeline`, `/multi-exec`) or path style (`/set/foo/bar?EX=1`, a body appended as the last argument). */
export function parseRequest(target: Target, body: Buffer): AskedRequest | Malformed {
  const path = target.path.endsWith('/') ? target.path.slice(0, -1) : target.path;
  switch (path) {
    case '':
      return parseOne(body);
    case '/pipeline':
      return parseMany('pipeline', body);
    case '/multi-exec':
      return parseMany('transaction', body);
    default:
      return { kind: 'single', commands: [{ arguments: pathCommand(path, target, body) }] };
  }
}

/** The names of the commands asked for, in capitals. */
export function commandNames(asked: AskedRequest): string[] {
  return asked.commands.map((one) => ('error' in one ? '' : String(one.arguments[0]).toUpperCase()));
}

function pathCommand(path: string, target: Target, body: Buffer): CommandArgument[] {
  const command = path.slice(1).split('/').map(decodePercent);
  if (body.length > 0) command.push(body);
  for (const [name, value] of target.pieces) {
    command.push(decodePercent(name.replaceAll('+', ' ')));
    if (value !== undefined && value !== '') command.push(decodePercent(value.replaceAll('+', ' ')));
  }
  return command;
}

/** Percent-decoding to bytes, as an argument need not be text. A `%` that starts no escape stands for itself. */
function decodePercent(text: string): CommandArgument {
  if (!text.includes('%')) return text;
  const latin1 = Buffer.from(text, 'utf8').toString('latin1');
  const bytes = latin1.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  const decoded = Buffer.from(bytes, 'latin1');
  const asText = decoded.toString('utf8');
  return Buffer.from(asText, 'utf8').equals(decoded) ? asText : decoded;
}

function parseOne(body: Buffer): AskedRequest | Malformed {
  const parsed = parseJson(body);
  if ('error' in parsed) return { kind: 'malformed', error: parsed.error };
  if (!Array.isArray(parsed.value)) return { kind: 'malformed', error: 'ERR expected a JSON array: one command' };
  return { kind: 'single', commands: [readCommand(parsed.value)] };
}

function parseMany(kind: 'pipeline' | 'transaction', body: Buffer): AskedRequest | Malformed {
  const parsed = parseJson(body);
  if ('error' in parsed) return { kind: 'malformed', error: parsed.error };
  const rows = parsed.value;
  if (!Array.isArray(rows) || rows.some((row) => !Array.isArray(row))) {
    return { kind: 'malformed', error: 'ERR expected a JSON array of arrays: one for each command' };
  }
  if (rows.length === 0) return { kind: 'malformed', error: 'ERR empty pipeline request' };
  return { kind, commands: rows.map(readCommand) };
}

function parseJson(body: Buffer): { value: unknown } | { error: string } {
  if (body.length === 0) return { error: 'ERR empty request body' };
  try {
    return { value: JSON.parse(body.toString('utf8')) };
  } catch {
    return { error: 'ERR failed to parse the request body as JSON' };
  }
}

function readCommand(row: unknown[]): AskedCommand {
  if (row.length === 0 || row[0] === '') return { error: 'ERR empty command' };
  const command: string[] = [];
  for (const item of row) {
    if (typeof item === 'string') command.push(item);
    else if (typeof item === 'number' || typeof item === 'boolean') command.push(String(item));
    else if (item === null) return { error: 'ERR null args are not supported' };
    else return { error: `ERR unsupported arg type: "${Array.isArray(item) ? '[' : '{'}": json.Delim` };
  }
  return { arguments: command };
}
