import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { isIPv6 } from 'node:net';

/* A name server on loopback that changes its mind as a test tells it to. Source: RFC 1035, 3596. */

export interface LoopbackDns {
  /** `address:port`, as a resolver takes it. */
  server: string;
  /** Every question, oldest first, such as `A rebind.example.com`. */
  asked: string[];
  /** The addresses of a name for its first question, its second, …; the last goes on. IPv4 and IPv6 are counted apart. */
  names: Record<string, string[][]>;
  /** Answers nobody any more. */
  mute(): void;
  close(): Promise<void>;
}

const types: Record<number, string> = { 1: 'A', 28: 'AAAA' };

export async function startLoopbackDns(): Promise<LoopbackDns> {
  const socket = createSocket('udp4');
  let isMute = false;
  socket.on('message', (question, { port, address }) => {
    const { name, type } = readQuestion(question);
    const before = dns.asked.filter((one) => one === `${types[type]} ${name}`).length;
    dns.asked.push(`${types[type]} ${name}`);
    const turns = dns.names[name];
    const addresses = turns?.[Math.min(before, turns.length - 1)];
    const fitting = addresses?.filter((one) => isIPv6(one) === (type === 28));
    if (!isMute) socket.send(answerTo(question, type, fitting), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const dns: LoopbackDns = {
    server: `127.0.0.1:${socket.address().port}`,
    asked: [],
    names: {},
    mute: () => {
      isMute = true;
    },
    async close() {
      socket.close();
      await once(socket, 'close');
    },
  };
  return dns;
}

const headerBytes = 12;

function readQuestion(question: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = headerBytes;
  for (let length = question[at] ?? 0; length > 0; length = question[at] ?? 0) {
    labels.push(question.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: question.readUInt16BE(at + 1), end: at + 5 };
}

/** Without addresses: there is no such name. */
function answerTo(question: Buffer, type: number, addresses: string[] | undefined): Buffer {
  const { end } = readQuestion(question);
  const header = Buffer.from(question.subarray(0, headerBytes));
  header.writeUInt16BE(addresses === undefined ? 0x8183 : 0x8180, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(addresses?.length ?? 0, 6);
  header.writeUInt32BE(0, 8);
  const records = (addresses ?? []).map((address) => {
    const data = addressBytes(address);
    const record = Buffer.alloc(12);
    // The name is that of the question; nobody is to keep it (TTL 0).
    record.writeUInt16BE(0xc000 + headerBytes, 0);
    record.writeUInt16BE(type, 2);
    record.writeUInt16BE(1, 4);
    record.writeUInt16BE(data.length, 10);
    return Buffer.concat([record, data]);
  });
  return Buffer.concat([header, question.subarray(headerBytes, end), ...records]);
}

function addressBytes(address: string): Buffer {
  if (!isIPv6(address)) return Buffer.from(address.split('.').map(Number));
  // The URL parser writes an embedded IPv4 address in hex.
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const groups = (part: string | undefined) => (part ? part.split(':').map((group) => Number.parseInt(group, 16)) : []);
  const before = groups(head);
  const after = groups(tail);
  const zeros = new Array<number>(8 - before.length - after.length).fill(0);
  return Buffer.from([...before, ...zeros, ...after].flatMap((group) => [group >> 8, group & 0xff]));
}
