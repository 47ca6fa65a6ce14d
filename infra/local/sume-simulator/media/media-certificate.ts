import { generateKeyPairSync, sign } from 'node:crypto';

const DAY_MS = 86_400_000;
const DAYS_VALID = 30;
const ECDSA_WITH_SHA256 = [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02];
const COMMON_NAME = [0x55, 0x04, 0x03];
const BASIC_CONSTRAINTS = [0x55, 0x1d, 0x13];
const ALTERNATIVE_NAMES = [0x55, 0x1d, 0x11];
const NAME = 'sume-simulator';

/**
 * A new key and a certificate that signs itself, for localhost and 127.0.0.1, as PEM.
 * Trust it by NODE_EXTRA_CA_CERTS. Nothing else in Node makes one, and a committed private key would be a found secret.
 */
export function makeCertificate(nowMs: number): { key: string; certificate: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = sequence(objectId(ECDSA_WITH_SHA256));
  const name = sequence(der(0x31, sequence(objectId(COMMON_NAME), der(0x0c, Buffer.from(NAME)))));
  const body = sequence(
    der(0xa0, integer(2)), // version 3
    integer(Math.floor(nowMs / 1000)),
    algorithm,
    name,
    sequence(utcTime(nowMs - DAY_MS), utcTime(nowMs + DAYS_VALID * DAY_MS)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(authority(), alternativeNames())),
  );
  const signature = sign('sha256', body, privateKey);
  const certificate = sequence(body, algorithm, der(0x03, Buffer.from([0]), signature));
  return { key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(), certificate: pem(certificate) };
}

function authority(): Buffer {
  const yes = der(0x01, Buffer.from([0xff]));
  return sequence(objectId(BASIC_CONSTRAINTS), yes, der(0x04, sequence(yes)));
}

function alternativeNames(): Buffer {
  const host = der(0x82, Buffer.from('localhost'));
  const address = der(0x87, Buffer.from([127, 0, 0, 1]));
  return sequence(objectId(ALTERNATIVE_NAMES), der(0x04, sequence(host, address)));
}

function sequence(...parts: Buffer[]): Buffer {
  return der(0x30, ...parts);
}

function objectId(bytes: number[]): Buffer {
  return der(0x06, Buffer.from(bytes));
}

function integer(value: number): Buffer {
  const hex = value.toString(16);
  const bytes = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex');
  return der(0x02, bytes.readUInt8(0) > 0x7f ? Buffer.concat([Buffer.from([0]), bytes]) : bytes);
}

function utcTime(atMs: number): Buffer {
  const digits = new Date(atMs).toISOString().replace(/\D/g, '').slice(2, 14);
  return der(0x17, Buffer.from(`${digits}Z`));
}

/** Tag, length, content. */
function der(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  if (length < 0x80) return Buffer.concat([Buffer.from([tag, length]), content]);
  if (length < 0x100) return Buffer.concat([Buffer.from([tag, 0x81, length]), content]);
  return Buffer.concat([Buffer.from([tag, 0x82, length >> 8, length & 0xff]), content]);
}

function pem(certificate: Buffer): string {
  const lines = certificate.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}
