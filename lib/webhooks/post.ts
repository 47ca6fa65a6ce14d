import http, { type IncomingHttpHeaders, type IncomingMessage, type RequestOptions } from 'node:http';
import https from 'node:https';
import { isIPv6, type LookupFunction } from 'node:net';

/*
 * One POST to a stranger. Connects to the given addresses only, on a socket of its own that ends with it; follows nothing;
 * what counts is the status, so the body is only looked into, and a receiver that never ends it costs neither time nor memory.
 */

export interface PostRequest {
  url: URL;
  /** The addresses of its host, all checked. No other is connected to. */
  addresses: readonly string[];
  headers: Record<string, string>;
  body: Buffer;
  /** In all, ms. */
  limitMs: number;
  /** PEM of those that may vouch for a receiver, instead of the usual ones. */
  authorities?: string;
}

/** `body` is its beginning, as it came over the wire. */
export interface PostAnswer {
  kind: 'answer';
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** `tls`: no trusted certificate for the host, or no TLS at all. `bad_answer`: what came is not HTTP. */
export interface PostFailure {
  kind: 'failure';
  fault: 'timeout' | 'connection' | 'tls' | 'bad_answer';
}

/** Bytes of a body that are read at most. */
const readMax = 4_096;
/** After the status has come, its body is waited for no longer than this: a lane is worth more than a snippet. */
const bodyWaitMs = 2_000;
/** For one address, while there is another to try. Node's own 250 ms are less than the way round the world with a lost packet. */
const addressWaitMs = 2_000;

/** Rejects only when no request can be made of it, and nothing was sent. When it resolves, nothing is under way any more. */
export function post(asked: PostRequest): Promise<PostAnswer | PostFailure> {
  return new Promise((resolve) => {
    const secure = asked.url.protocol === 'https:';
    const request = (secure ? https : http).request(asked.url, optionsFor(asked, secure));
    let response: IncomingMessage | undefined;
    const body = new Beginning();
    const finish = (fault: PostFailure['fault']) => {
      clearTimeout(totalTimer);
      clearTimeout(bodyTimer);
      request.destroy();
      const { statusCode: status, headers } = response ?? {};
      if (status === undefined || headers === undefined) resolve({ kind: 'failure', fault });
      else resolve({ kind: 'answer', status, headers, body: body.bytes() });
    };
    const totalTimer = setTimeout(finish, asked.limitMs, 'timeout');
    let bodyTimer: NodeJS.Timeout | undefined;
    request.on('error', (error) => finish(faultOf(error)));
    // Asked by nobody; but without this it would be no answer at all.
    request.on('upgrade', (upgraded, socket) => {
      socket.destroy();
      response = upgraded;
      finish('bad_answer');
    });
    request.on('response', (incoming) => {
      response = incoming;
      bodyTimer = setTimeout(finish, bodyWaitMs, 'timeout');
      incoming.on('data', (chunk: Buffer) => body.add(chunk) && finish('connection'));
      for (const over of ['end', 'error', 'close']) incoming.on(over, () => finish('connection'));
    });
    request.end(asked.body);
  });
}

function optionsFor({ addresses, headers, body, authorities }: PostRequest, secure: boolean) {
  const options: RequestOptions & { autoSelectFamilyAttemptTimeout: number } = {
    method: 'POST',
    headers: { ...headers, 'content-length': body.length },
    // No shared sockets, and no proxy that would resolve the name once more.
    agent: false,
    lookup: only(addresses),
    autoSelectFamilyAttemptTimeout: addressWaitMs,
  };
  if (!secure) return options;
  // Said here because an environment variable of Node's could turn it off.
  const tls = { rejectUnauthorized: true, ALPNProtocols: ['http/1.1'] };
  return { ...options, ...tls, ...(authorities === undefined ? {} : { ca: authorities }) };
}

/** Takes the place of the resolver: whatever the name, it has these addresses. */
function only(addresses: readonly string[]): LookupFunction {
  const all = addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
  return (_, { all: wantsAll }, found) => {
    const [first] = all;
    if (wantsAll === true) found(null, all);
    else found(null, first?.address ?? '', first?.family);
  };
}

class Beginning {
  readonly #chunks: Buffer[] = [];
  #size = 0;

  /** Whether that is all that fits. */
  add(chunk: Buffer): boolean {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    return this.#size >= readMax;
  }

  bytes(): Buffer {
    return Buffer.concat(this.#chunks).subarray(0, readMax);
  }
}

function faultOf({ code = '' }: NodeJS.ErrnoException): PostFailure['fault'] {
  if (code.startsWith('HPE_')) return 'bad_answer';
  return /^(ERR_TLS_|ERR_SSL_|EPROTO$|CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_)/.test(code)
    ? 'tls'
    : 'connection';
}
