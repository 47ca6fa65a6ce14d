import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  ErrorReply,
  encodeCommands,
  encodeReply,
  nilArray,
  type Reply,
  ReplyDecoder,
  StatusReply,
} from '../../infra/local/upstash-rest/resp.ts';

function decode(chunks: readonly Buffer[]): { replies: Reply[]; bytes: number } {
  const replies: Reply[] = [];
  let bytes = 0;
  const decoder = new ReplyDecoder((reply, size) => {
    replies.push(reply);
    bytes += size;
  });
  for (const chunk of chunks) decoder.push(chunk);
  return { replies, bytes };
}

const line = fc.string({ unit: 'grapheme' }).map((text) => text.replace(/[\r\n]/g, ' '));
const { reply: anyReply } = fc.letrec<{ reply: Reply }>((tie) => ({
  reply: fc.oneof(
    { maxDepth: 4 },
    fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
    line.map((text) => new StatusReply(text)),
    line.map((text) => new ErrorReply(text)),
    fc.integer(),
    fc.constantFrom<Reply>(null, nilArray, 2n ** 63n - 1n, -(2n ** 63n), Buffer.from('\r\n$-1\r\n')),
    fc.array(tie('reply'), { maxLength: 4 }),
  ),
}));

describe('RESP2', () => {
  it('reads back every reply it writes, however the bytes are cut', () => {
    fc.assert(
      fc.property(fc.array(anyReply, { minLength: 1, maxLength: 5 }), fc.array(fc.nat(60)), (replies, cuts) => {
        const bytes = Buffer.concat(replies.map(encodeReply));
        const chunks: Buffer[] = [];
        let start = 0;
        for (const cut of cuts) {
          chunks.push(bytes.subarray(start, start + cut));
          start += cut;
        }
        chunks.push(bytes.subarray(start));
        expect(decode(chunks)).toEqual({ replies, bytes: bytes.length });
        expect(decode([...bytes].map((byte) => Buffer.from([byte]))).replies).toEqual(replies);
      }),
    );
  });

  it('writes commands with lengths in bytes, text and binary mixed', () => {
    expect(encodeCommands([['GET', 'é'], ['PING']])).toBe('*2\r\n$3\r\nGET\r\n$2\r\né\r\n*1\r\n$4\r\nPING\r\n');
    const mixed = encodeCommands([
      ['SET', Buffer.from([255]), 'x'],
      ['GET', Buffer.from([0])],
    ]);
    const expected = '*3\r\n$3\r\nSET\r\n$1\r\n\xff\r\n$1\r\nx\r\n*2\r\n$3\r\nGET\r\n$1\r\n\0\r\n';
    expect(Buffer.from(mixed)).toEqual(Buffer.from(expected, 'latin1'));
    expect(encodeCommands([['\ud800']])).toBe('*1\r\n$3\r\n\ud800\r\n');
  });

  it('reads a long string that comes in many pieces in time that grows with its length only', () => {
    const bytes = encodeReply(Buffer.alloc(20_000_000, 'v'));
    const pieces = Array.from({ length: 2_000 }, (_, index) => bytes.subarray(index * 10_001, (index + 1) * 10_001));
    const startedAtMs = performance.now();
    expect(decode(pieces).bytes).toBe(bytes.length);
    expect(performance.now() - startedAtMs).toBeLessThan(2_000);
  });

  it('refuses bytes that are not RESP2', () => {
    expect(() => decode([Buffer.from('HTTP/1.1 200 OK\r\n')])).toThrow('Not a RESP2 reply');
  });
});
