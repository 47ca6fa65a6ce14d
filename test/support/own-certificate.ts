import { generateKeyPairSync, sign } from 'node:crypto';

/* A certificate that vouches for itself, made anew for each run: no key lies in the repository. Source: RFC 5280. */

/** PEM of both; `certificate` is also its own authority. Good for a day on either side of today. */
export function ownCertificate(host: string): { key: string; certificate: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = sequence(objectId('06082a8648ce3d040302'));
  const name = sequence(tagged(0x31, sequence(objectId('0603550403'), text(host))));
  const alternativeName = sequence(objectId('0603551d11'), tagged(0x04, sequence(tagged(0x82, Buffer.from(host)))));
  const toSign = sequence(
    tagged(0xa0, integer(2)),
    integer(1),
    algorithm,
    name,
    sequence(time(-1), time(1)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    tagged(0xa3, sequence(alternativeName)),
  );
  const signature = tagged(0x03, Buffer.concat([Buffer.from([0]), sign('sha256', toSign, privateKey)]));
  const bytes = sequence(toSign, algorithm, signature).toString('base64');
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    certificate: `-----BEGIN CERTIFICATE-----\n${bytes.replace(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`,
  };
}

function tagged(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

function sequence(...parts: Buffer[]): Buffer {
  return tagged(0x30, ...parts);
}

function integer(value: number): Buffer {
  return tagged(0x02, Buffer.from([value]));
}

function text(value: string): Buffer {
  return tagged(0x0c, Buffer.from(value));
}

function objectId(hex: string): Buffer {
  return Buffer.from(hex, 'hex');
}

function time(daysFromNow: number): Buffer {
  const iso = new Date(Date.now() + daysFromNow * 86_400_000).toISOString();
  return tagged(0x17, Buffer.from(`${iso.replace(/[-:T]/g, '').slice(2, 14)}Z`));
}
