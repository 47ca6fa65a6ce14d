import { KeyLockingScripts } from './key-locking-scripts.ts';
import { RedisLink } from './redis-link.ts';
import { notAvailable, type ReadableCommands, readableCommands, refuseCommand, refuseWrite } from './refuse-command.ts';
import { type CommandArgument, ErrorReply, type Reply } from './resp.ts';

/** One command as the client wrote it, or the text of what is wrong with it. */
export type AskedCommand = { arguments: readonly CommandArgument[] } | { error: string };

export type Access = 'full' | 'read-only';

type Prepared =
  | { kind: 'answered'; reply: ErrorReply }
  | { kind: 'send'; command: readonly CommandArgument[]; finish: (reply: Reply) => Reply };

export type CommandRunnerOptions = { redisPort: number; replyTimeoutMs: number; replyBytesMax: number };

const sharedLinks = 2;

/**
 * Runs what the client asked on Redis: several requests share a few pipelined connections; transactions have their own.
 * Both methods reject with `RedisGoneError` when Redis is away; everything Redis answers, errors included, is a reply.
 */
export class CommandRunner {
  readonly #shared: RedisLink[];
  readonly #transactions: RedisLink;
  readonly #scripts = new KeyLockingScripts();
  #readable: Promise<ReadableCommands> | undefined;
  #sentCount = 0;

  constructor(options: CommandRunnerOptions) {
    // A Redis that went away may have lost its scripts, so what is known about them is void.
    const onLost = () => this.#scripts.forget();
    const { redisPort: port, replyTimeoutMs, replyBytesMax } = options;
    this.#shared = Array.from(
      { length: sharedLinks },
      () => new RedisLink({ port, replyTimeoutMs, replyBytesMax, onLost }),
    );
    this.#transactions = new RedisLink({ port, replyTimeoutMs, onLost });
  }

  /** Commands sent to Redis so far, each one of a pipeline or a transaction counted; those inside scripts are not. */
  get sentCount(): number {
    return this.#sentCount;
  }

  /** In order, not atomic: one reply per command, refusals in their place. */
  async pipeline(asked: readonly AskedCommand[], access: Access): Promise<Reply[]> {
    const prepared = await this.#prepareAll(asked, access);
    const commands = prepared.flatMap((one) => (one.kind === 'send' ? [one.command] : []));
    this.#sentCount += commands.length;
    const replies = commands.length === 0 ? [] : await this.#leastBusy().send(commands);
    let next = 0;
    return prepared.map((one) => {
      if (one.kind === 'answered') return one.reply;
      const reply = one.finish(replies[next] ?? null);
      next += 1;
      return reply;
    });
  }

  /** All or nothing: one reply per command, or the error for which the whole transaction was dropped. */
  async transaction(asked: readonly AskedCommand[], access: Access): Promise<Reply[] | ErrorReply> {
    const prepared = await this.#prepareAll(asked, access);
    const refused = prepared.find((one) => one.kind === 'answered');
    if (refused !== undefined) return refused.reply;
    const sends = prepared.filter((one) => one.kind === 'send');
    this.#sentCount += sends.length;
    const replies = await this.#transactions.send([['MULTI'], ...sends.map((one) => one.command), ['EXEC']]);
    const results = replies.at(-1);
    if (Array.isArray(results)) return sends.map((one, index) => one.finish(results[index] ?? null));
    const index = replies.findIndex((reply) => reply instanceof ErrorReply);
    const error = replies[index];
    // The queue's own error says more than EXEC's "discarded because of previous errors".
    return error instanceof ErrorReply
      ? explain(sends[index - 1]?.command, error)
      : new ErrorReply('ERR no transaction');
  }

  close(): void {
    for (const link of this.#shared) link.close();
    this.#transactions.close();
  }

  #leastBusy(): RedisLink {
    return this.#shared.reduce((best, link) => (link.pendingCount < best.pendingCount ? link : best));
  }

  async #prepareAll(asked: readonly AskedCommand[], access: Access): Promise<Prepared[]> {
    const readable = access === 'read-only' ? await this.#loadReadable() : undefined;
    return asked.map((one) => this.#prepare(one, readable));
  }

  #prepare(asked: AskedCommand, readable: ReadableCommands | undefined): Prepared {
    if ('error' in asked) return { kind: 'answered', reply: new ErrorReply(asked.error) };
    const command = asked.arguments;
    const name = String(command[0]).toUpperCase();
    const refusal = refuseCommand(name, command) ?? (readable && refuseWrite(readable, name, command));
    if (refusal !== undefined) return { kind: 'answered', reply: new ErrorReply(refusal) };
    if (name === 'SCRIPT' && String(command[1]).toUpperCase() === 'KILL') {
      return { kind: 'answered', reply: new ErrorReply('NOTBUSY No scripts in execution right now.') };
    }
    const rewritten = this.#scripts.rewrite(name, withoutWaiting(name, command));
    const finish = (reply: Reply) => {
      const told = reply instanceof ErrorReply ? explain(command, reply) : reply;
      return rewritten.finish === undefined ? told : rewritten.finish(told);
    };
    return { kind: 'send', command: rewritten.command, finish };
  }

  #loadReadable(): Promise<ReadableCommands> {
    this.#readable ??= this.#transactions.send([['COMMAND']]).then(
      ([reply]) => readableCommands(reply ?? null),
      (error: unknown) => {
        this.#readable = undefined;
        throw error;
      },
    );
    return this.#readable;
  }
}

/** A local Redis has no replicas: waiting for some would only hold up the connection that other requests share. */
function withoutWaiting(name: string, command: readonly CommandArgument[]): readonly CommandArgument[] {
  if (name === 'WAIT' && command.length === 3) return command.with(1, '0');
  if (name === 'WAITAOF' && command.length === 4) return command.with(2, '0');
  return command;
}

/** What plain Redis calls unknown, the hosted service calls not available. */
function explain(command: readonly CommandArgument[] | undefined, error: ErrorReply): ErrorReply {
  if (command === undefined || !error.message.startsWith('ERR unknown command')) return error;
  return new ErrorReply(notAvailable(String(command[0]).toUpperCase()));
}
