import { type AddressInfo, createServer } from 'node:net';

/** A port of 127.0.0.1 that nobody listens on, at this moment: somebody else may take it before it is used. */
export function freePort(): Promise<number> {
  return listenOnce(0);
}

export function isFree(port: number): Promise<boolean> {
  return listenOnce(port).then(
    () => true,
    () => false,
  );
}

function listenOnce(port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      const { port: found } = server.address() as AddressInfo;
      server.close(() => resolve(found));
    });
  });
}
