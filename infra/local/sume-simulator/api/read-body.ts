import type { IncomingMessage } from 'node:http';
import { Refusal } from './answer.ts';

const BODY_BYTES_MAX = 1_048_576;

/** The whole body. Rejects with a Refusal (413) past 1 MB; the rest is then read and dropped, so that the sender gets to see the answer. */
export function readBody(request: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= BODY_BYTES_MAX) {
        chunks.push(chunk);
      } else {
        chunks.length = 0;
        reject(
          new Refusal(413, 'payload_too_large', `The body is larger than ${BODY_BYTES_MAX} bytes.`, {}, [
            'Connection',
            'close',
          ]),
        );
      }
    });
    request.on('end', () => resolve(Buffer.concat(chunks).toString('utf8')));
    request.on('error', reject);
  });
}

/** Undefined for an empty body. Throws a Refusal (400) for anything that is not JSON. */
export function parseBody(text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    throw new Refusal(400, 'invalid_json', 'The body is not valid JSON.');
  }
}
