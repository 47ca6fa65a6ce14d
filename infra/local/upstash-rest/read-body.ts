import type { IncomingMessage } from 'node:http';

/** How far past the limit a body is read and thrown away, so that its sender gets the answer and not a broken connection. */
const discardedBytesMax = 100 * 1024 * 1024;

/** The whole body, or its size when that is above `bytesMax`. Rejects when the client goes away in the middle of it. */
export function readBody(
  request: IncomingMessage,
  bytesMax: number,
): Promise<{ bytes: Buffer } | { tooLarge: number }> {
  return new Promise((resolve, reject) => {
    let chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= bytesMax) chunks.push(chunk);
      else chunks = [];
      if (size > bytesMax + discardedBytesMax) request.destroy();
    });
    request.on('end', () => {
      if (size > bytesMax) resolve({ tooLarge: size });
      else resolve({ bytes: chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks) });
    });
    request.on('error', reject);
    request.on('close', () => {
      if (!request.complete) reject(new Error('the client closed the connection'));
    });
  });
}
