import { UndiciHttpHandler } from '@smithy/undici-http-handler';

/**
 * undici under the SDK, and its middleware stack resolved once: a call costs a third of the CPU that it costs with the
 * SDK's defaults (decision 9). `timeoutMs` is for the headers, and again between two parts of a body.
 */
export function awsTransport(connections: number, timeoutMs: number) {
  const dispatcher = {
    connections,
    allowH2: false,
    connect: { timeout: 1_000 },
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    keepAliveTimeout: 4_000,
  };
  return { requestHandler: new UndiciHttpHandler({ dispatcher }), cacheMiddleware: true };
}

/** An emulator's address, with the region and the made-up keys that the SDK insists on. */
export function localAws(endpoint: string | undefined) {
  if (endpoint === undefined) return {};
  const keys =
    process.env.AWS_ACCESS_KEY_ID === undefined
      ? { credentials: { accessKeyId: 'local', secretAccessKey: 'local' } }
      : {};
  return { endpoint, region: process.env.AWS_REGION ?? 'us-east-1', ...keys };
}
