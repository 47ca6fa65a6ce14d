import { createHash } from 'node:crypto';
import { type CommandArgument, ErrorReply, type Reply } from './resp.ts';

/** A command as Redis is to see it, and what to do to its reply before the client sees it. */
export type Rewritten = { command: readonly CommandArgument[]; finish?: (reply: Reply) => Reply };

const scriptsMax = 1_000;

/**
 * Scripts that open with `#!lua flags=allow-key-locking`. The hosted service knows that flag; plain Redis refuses it, so the flag
 * is taken out on the way. The client addresses a script by the SHA-1 of the text it knows, Redis by that of the text it got:
 * this keeps the one from the other. What is forgotten here (or in Redis) is answered NOSCRIPT, and the client sends the text again.
 */
export class KeyLockingScripts {
  readonly #shaByClientSha = new Map<string, string>();
  readonly #clientShaByText = new Map<string, string>();

  forget(): void {
    this.#shaByClientSha.clear();
    this.#clientShaByText.clear();
  }

  /** `name` is the command's name in capitals. */
  rewrite(name: string, command: readonly CommandArgument[]): Rewritten {
    switch (name) {
      case 'EVAL':
      case 'EVAL_RO':
        return { command: replaceAt(command, 1, this.#strip(command[1]).text) };
      case 'EVALSHA':
      case 'EVALSHA_RO':
        return { command: replaceAt(command, 1, this.#shaFor(command[1])) };
      case 'SCRIPT':
        return this.#rewriteScript(String(command[1] ?? '').toUpperCase(), command);
      default:
        return { command };
    }
  }

  #rewriteScript(subcommand: string, command: readonly CommandArgument[]): Rewritten {
    if (subcommand === 'LOAD') {
      const script = this.#strip(command[2]);
      const finish = (reply: Reply) => (reply instanceof ErrorReply ? reply : Buffer.from(script.sha));
      return script.sha === '' ? { command } : { command: replaceAt(command, 2, script.text), finish };
    }
    if (subcommand === 'EXISTS') {
      return {
        command: command.map((argument, index) => (index < 2 ? argument : (this.#shaFor(argument) ?? argument))),
      };
    }
    if (subcommand !== 'FLUSH') return { command };
    const finish = (reply: Reply) => {
      if (!(reply instanceof ErrorReply)) this.forget();
      return reply;
    };
    return { command, finish };
  }

  #shaFor(clientSha: CommandArgument | undefined): CommandArgument | undefined {
    if (typeof clientSha !== 'string') return clientSha;
    return this.#shaByClientSha.get(clientSha) ?? this.#shaByClientSha.get(clientSha.toLowerCase()) ?? clientSha;
  }

  /** The text for Redis, and the client's SHA-1 of the original, empty when there was nothing to take out. */
  #strip(original: CommandArgument | undefined): { text: CommandArgument | undefined; sha: string } {
    // A script sent as a path-style body comes as bytes.
    const script = original?.toString() ?? '';
    const text = withoutKeyLocking(script);
    return text === undefined ? { text: original, sha: '' } : { text, sha: this.#remember(script, text) };
  }

  #remember(original: string, text: string): string {
    const known = this.#clientShaByText.get(original);
    if (known !== undefined) return known;
    if (this.#clientShaByText.size >= scriptsMax) this.forget();
    const clientSha = sha1(original);
    this.#clientShaByText.set(original, clientSha);
    this.#shaByClientSha.set(clientSha, sha1(text));
    return clientSha;
  }
}

/** The text without the flag, or undefined when it has none. The first line stays, empty, so that line numbers in errors hold. */
function withoutKeyLocking(script: string): string | undefined {
  if (!script.startsWith('#!lua')) return undefined;
  const lineEnd = script.indexOf('\n');
  const line = lineEnd === -1 ? script : script.slice(0, lineEnd);
  const flags = /\bflags=(\S*)/.exec(line)?.[1]?.split(',') ?? [];
  if (!flags.includes('allow-key-locking')) return undefined;
  const others = flags.filter((flag) => flag !== 'allow-key-locking');
  const rest = lineEnd === -1 ? '' : script.slice(lineEnd);
  return others.length === 0 ? rest : `#!lua flags=${others.join(',')}${rest}`;
}

function replaceAt(
  command: readonly CommandArgument[],
  index: number,
  value: CommandArgument | undefined,
): readonly CommandArgument[] {
  return value === undefined || value === command[index] ? command : command.with(index, value);
}

function sha1(text: string): string {
  return createHash('sha1').update(text).digest('hex');
}
