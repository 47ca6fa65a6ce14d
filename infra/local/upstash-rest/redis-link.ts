import { connect, type Socket } from 'node:net';
import { type CommandArgument, ErrorReply, encodeCommands, type Reply, ReplyDecoder } from './resp.ts';

/** Redis could not be reached (`sent` false: nothing ran) or went away before it answered (`sent` true: it may have run). */
export class RedisGoneError extends Error {
  readonly sent: boolean;
  constructor(sent: boolean, cause?: Error) {
    super(sent ? 'Redis went away before it answered' : 'Redis cannot be reached', { cause });
    this.name = 'RedisGoneError';
    this.sent = sent;
  }
}

type Batch = {
  missing: number;
  replies: Reply[];
  sentAtMs: number;
  resolve: (replies: Reply[]) => void;
  reject: (error: Error) => void;
};

export type RedisLinkOptions = {
  port: number;
  /** A Redis that stays silent this long (stopped, not dead) counts as gone. */
  replyTimeoutMs: number;
  /** A reply above this many bytes is replaced by an error, as the hosted service does. Absent: no limit. */
  replyBytesMax?: number;
  /** Called when a connection that had been open is lost. */
  onLost?: () => void;
};

/**
 * One TCP connection to Redis that carries many batches at once (pipelining), answered in the order they were sent. A batch goes
 * out in one piece: nothing comes between its commands on this connection. It connects when first used, and again at the next
 * use after a loss, so no timer retries and nothing needs restarting when Redis is back.
 */
export class RedisLink {
  readonly #options: RedisLinkOptions;
  readonly #watch: NodeJS.Timeout;
  #socket: Socket | undefined;
  #pending: Batch[] = [];

  constructor(options: RedisLinkOptions) {
    this.#options = options;
    this.#watch = setInterval(() => this.#dropSilent(), Math.max(50, options.replyTimeoutMs / 10)).unref();
  }

  get pendingCount(): number {
    return this.#pending.length;
  }

  /** Resolves with one reply per command, or rejects with `RedisGoneError`. */
  send(commands: readonly (readonly CommandArgument[])[]): Promise<Reply[]> {
    return new Promise((resolve, reject) => {
      const socket = this.#socket ?? this.#open();
      this.#pending.push({ missing: commands.length, replies: [], sentAtMs: performance.now(), resolve, reject });
      if (socket.writableCorked === 0) {
        // All that is sent in this turn of the event loop leaves in one system call.
        socket.cork();
        setImmediate(() => socket.uncork());
      }
      socket.write(encodeCommands(commands));
    });
  }

  close(): void {
    clearInterval(this.#watch);
    this.#socket?.destroy();
  }

  #open(): Socket {
    let connected = false;
    let cause: Error | undefined;
    const socket = connect({ host: '127.0.0.1', port: this.#options.port, noDelay: true });
    const decoder = new ReplyDecoder((reply, bytes) => this.#settle(reply, bytes));
    socket.on('connect', () => {
      connected = true;
    });
    socket.on('data', (chunk) => {
      try {
        decoder.push(chunk);
      } catch (error) {
        socket.destroy(error instanceof Error ? error : new Error(String(error)));
      }
    });
    socket.on('error', (error) => {
      cause = error;
    });
    socket.on('end', () => socket.destroy());
    socket.on('close', () => {
      this.#socket = undefined;
      const lost = this.#pending;
      this.#pending = [];
      if (connected) this.#options.onLost?.();
      for (const batch of lost) batch.reject(new RedisGoneError(connected, cause));
    });
    this.#socket = socket;
    return socket;
  }

  #settle(reply: Reply, bytes: number): void {
    const batch = this.#pending[0];
    if (batch === undefined) throw new Error('Redis sent a reply that nobody asked for');
    const limit = this.#options.replyBytesMax ?? Number.POSITIVE_INFINITY;
    batch.replies.push(bytes > limit ? tooLarge(limit, bytes) : reply);
    batch.missing -= 1;
    if (batch.missing > 0) return;
    this.#pending.shift();
    batch.resolve(batch.replies);
  }

  #dropSilent(): void {
    const oldest = this.#pending[0];
    if (oldest === undefined || performance.now() - oldest.sentAtMs < this.#options.replyTimeoutMs) return;
    this.#socket?.destroy(new Error(`Redis did not answer within ${this.#options.replyTimeoutMs} ms`));
  }
}

function tooLarge(limit: number, bytes: number): ErrorReply {
  return new ErrorReply(`ERR max request size exceeded. Limit: ${limit} bytes, Actual: ${bytes} bytes`);
}
