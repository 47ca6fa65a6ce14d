import { ErrorReply, encodeReply, nilArray, type Reply, StatusReply } from './resp.ts';

/** How the client wants its answer: JSON, JSON with every string in base64, or the bytes Redis sent. */
export type ReplyFormat = 'json' | 'base64' | 'resp2';

export const contentTypes: Record<ReplyFormat, string> = {
  json: 'application/json',
  base64: 'application/json',
  resp2: 'application/octet-stream',
};

/** One reply as the whole body: `{"result":…}` or `{"error":"…"}`. */
export function writeReply(reply: Reply, format: ReplyFormat): string | Buffer {
  return format === 'resp2' ? encodeReply(reply) : envelope(reply, format === 'base64');
}

/** The replies of a pipeline or a transaction: an array of envelopes, or the replies one after another. */
export function writeReplies(replies: readonly Reply[], format: ReplyFormat): string | Buffer {
  if (format === 'resp2') return Buffer.concat(replies.map(encodeReply));
  return `[${replies.map((reply) => envelope(reply, format === 'base64')).join(',')}]`;
}

export function writeError(message: string): string {
  return JSON.stringify({ error: message });
}

function envelope(reply: Reply, base64: boolean): string {
  return reply instanceof ErrorReply ? writeError(reply.message) : `{"result":${toJson(reply, base64)}}`;
}

/** Integers are written with all their digits, which `JSON.stringify` cannot do. */
function toJson(reply: Reply, base64: boolean): string {
  if (reply === null || reply === nilArray) return 'null';
  if (typeof reply === 'number' || typeof reply === 'bigint') return String(reply);
  if (Array.isArray(reply)) return `[${reply.map((item) => toJson(item, base64)).join(',')}]`;
  if (Buffer.isBuffer(reply)) return base64 ? `"${reply.toString('base64')}"` : JSON.stringify(reply.toString('utf8'));
  const text = reply instanceof StatusReply ? reply.text : reply.message;
  // OK is the one string that the hosted service leaves as it is.
  const plain = !base64 || (reply instanceof StatusReply && text === 'OK');
  return JSON.stringify(plain ? text : Buffer.from(text).toString('base64'));
}
