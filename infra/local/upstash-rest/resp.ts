/**
 * RESP2, the wire format of Redis: commands out, replies in. Binary-safe both ways.
 *
 * A reply keeps the type it had on the wire, so that it can be written again byte for byte:
 * status → `StatusReply`, error → `ErrorReply`, integer → number (bigint above 2^53), bulk string → Buffer,
 * nil → null, nil array → `nilArray`, array → array.
 */
export type Reply = StatusReply | ErrorReply | number | bigint | Buffer | null | typeof nilArray | Reply[];

export type CommandArgument = string | Buffer;

export const nilArray: unique symbol = Symbol('nil array');

export class StatusReply {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

export class ErrorReply {
  readonly message: string;
  constructor(message: string) {
    this.message = message;
  }
}

/** Writes commands one after another. A string when every argument is one, which is the cheap and usual case. */
export function encodeCommands(commands: readonly (readonly CommandArgument[])[]): string | Buffer {
  let text = '';
  const parts: Buffer[] = [];
  for (const command of commands) {
    text += `*${command.length}\r\n`;
    for (const argument of command) {
      if (typeof argument === 'string') {
        text += `$${Buffer.byteLength(argument)}\r\n${argument}\r\n`;
      } else {
        parts.push(Buffer.from(`${text}$${argument.length}\r\n`), argument);
        text = '\r\n';
      }
    }
  }
  return parts.length === 0 ? text : Buffer.concat([...parts, Buffer.from(text)]);
}

/** Writes a reply as Redis wrote it. */
export function encodeReply(reply: Reply): Buffer {
  if (reply === null) return Buffer.from('$-1\r\n');
  if (reply === nilArray) return Buffer.from('*-1\r\n');
  if (reply instanceof StatusReply) return Buffer.from(`+${reply.text}\r\n`);
  if (reply instanceof ErrorReply) return Buffer.from(`-${reply.message}\r\n`);
  if (Buffer.isBuffer(reply)) return Buffer.concat([Buffer.from(`$${reply.length}\r\n`), reply, Buffer.from('\r\n')]);
  if (Array.isArray(reply)) return Buffer.concat([Buffer.from(`*${reply.length}\r\n`), ...reply.map(encodeReply)]);
  return Buffer.from(`:${reply}\r\n`);
}

type OpenArray = { items: Reply[]; missing: number };

/**
 * Turns a stream of bytes into replies, however the bytes are cut. `onReply` gets each whole reply and its size on the
 * wire. Never looks at a byte twice while a long string or a long array arrives, so a reply of any size costs linear time.
 * `push` throws when the bytes are not RESP2.
 */
export class ReplyDecoder {
  readonly #onReply: (reply: Reply, bytes: number) => void;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #neededBytes = 1;
  #buffer: Buffer = Buffer.alloc(0);
  #offset = 0;
  #replyBytes = 0;
  #open: OpenArray[] = [];

  constructor(onReply: (reply: Reply, bytes: number) => void) {
    this.#onReply = onReply;
  }

  push(chunk: Buffer): void {
    this.#waiting.push(chunk);
    this.#waitingBytes += chunk.length;
    if (this.#waitingBytes < this.#neededBytes) return;
    this.#buffer = this.#waiting.length === 1 ? chunk : Buffer.concat(this.#waiting);
    this.#offset = 0;
    while (this.#readOne());
    const rest = this.#buffer.subarray(this.#offset);
    this.#waiting = rest.length === 0 ? [] : [rest];
    this.#waitingBytes = rest.length;
  }

  /** Reads one value or array head; false when the bytes for it have not all come. */
  #readOne(): boolean {
    const start = this.#offset;
    const lineEnd = this.#buffer.indexOf('\r\n', start);
    if (lineEnd === -1) {
      this.#neededBytes = this.#buffer.length - start + 1;
      return false;
    }
    const line = this.#buffer.toString('utf8', start + 1, lineEnd);
    const bodyStart = lineEnd + 2;
    switch (this.#buffer[start]) {
      case 0x2b: // +
        return this.#take(bodyStart, new StatusReply(line));
      case 0x2d: // -
        return this.#take(bodyStart, new ErrorReply(line));
      case 0x3a: // :
        return this.#take(bodyStart, readInteger(line));
      case 0x24: // $
        return this.#readBulk(start, bodyStart, Number(line));
      case 0x2a: // *
        return this.#readArrayHead(bodyStart, Number(line));
      default:
        throw new Error(`Not a RESP2 reply: it starts with byte ${this.#buffer[start]}`);
    }
  }

  #readBulk(start: number, bodyStart: number, length: number): boolean {
    if (length < 0) return this.#take(bodyStart, null);
    const end = bodyStart + length + 2;
    if (end > this.#buffer.length) {
      this.#neededBytes = end - start;
      return false;
    }
    return this.#take(end, this.#buffer.subarray(bodyStart, end - 2));
  }

  #readArrayHead(bodyStart: number, length: number): boolean {
    if (length < 0) return this.#take(bodyStart, nilArray);
    if (length === 0) return this.#take(bodyStart, []);
    this.#advance(bodyStart);
    this.#open.push({ items: [], missing: length });
    return true;
  }

  #take(end: number, value: Reply): true {
    this.#advance(end);
    let whole = value;
    for (let array = this.#open.at(-1); array !== undefined; array = this.#open.at(-1)) {
      array.items.push(whole);
      array.missing -= 1;
      if (array.missing > 0) return true;
      whole = array.items;
      this.#open.pop();
    }
    const bytes = this.#replyBytes;
    this.#replyBytes = 0;
    this.#onReply(whole, bytes);
    return true;
  }

  #advance(end: number): void {
    this.#replyBytes += end - this.#offset;
    this.#offset = end;
    this.#neededBytes = 1;
  }
}

function readInteger(line: string): number | bigint {
  const value = Number(line);
  return Number.isSafeInteger(value) ? value : BigInt(line);
}
