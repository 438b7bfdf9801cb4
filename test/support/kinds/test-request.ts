/** Makes requests for certificates for tests, as clients do. */
import { constants, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';

function element(tag: number, ...content: Buffer[]): Buffer {
  const body = Buffer.concat(content);
  if (body.length < 0x80) return Buffer.concat([Buffer.of(tag, body.length), body]);
  return Buffer.concat([Buffer.of(tag, 0x82, body.length >> 8, body.length & 0xff), body]);
}

const sequence = (...content: Buffer[]) => element(0x30, ...content);
const identifier = (hex: string) => element(0x06, Buffer.from(hex, 'hex'));
const NULL = Buffer.of(0x05, 0x00);

const sha256 = sequence(identifier('608648016503040201'), NULL);

interface Signer {
  readonly keys: () => { privateKey: KeyObject; publicKey: KeyObject };
  readonly algorithm: Buffer;
  readonly hash: string | null;
  readonly options?: { padding: number; saltLength: number };
}

const ec = (namedCurve: string, hash: string, algorithm: string): Signer => ({
  keys: () => generateKeyPairSync('ec', { namedCurve }),
  algorithm: sequence(identifier(algorithm)),
  hash,
});

const rsaKeys = () => generateKeyPairSync('rsa', { modulusLength: 2048 });

export const signers = {
  'ECDSA P-256': ec('prime256v1', 'sha256', '2a8648ce3d040302'),
  'ECDSA P-384': ec('secp384r1', 'sha384', '2a8648ce3d040303'),
  Ed25519: {
    keys: () => generateKeyPairSync('ed25519'),
    algorithm: sequence(identifier('2b6570')),
    hash: null,
  },
  RSA: { keys: rsaKeys, algorithm: sequence(identifier('2a864886f70d01010d'), NULL), hash: 'sha512' },
  'RSA with salt': {
    keys: rsaKeys,
    algorithm: sequence(identifier('2a864886f70d01010a'), sequence(element(0xa0, sha256))),
    hash: 'sha256',
    options: { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 },
  },
} satisfies Record<string, Signer>;

/** Returns the bytes of a request with an arbitrary subject. */
export function testRequest(signer: Signer = signers['ECDSA P-256']): Buffer {
  const { privateKey, publicKey } = signer.keys();
  const version = Buffer.of(0x02, 0x01, 0x00);
  const info = sequence(version, sequence(), publicKey.export({ type: 'spki', format: 'der' }), element(0xa0));
  const signature = sign(signer.hash, info, { key: privateKey, ...signer.options });
  return sequence(info, signer.algorithm, element(0x03, Buffer.of(0), signature));
}

export function pem(der: Buffer, type = 'CERTIFICATE REQUEST'): string {
  return `-----BEGIN ${type}-----\n${der.toString('base64')}\n-----END ${type}-----\n`;
}
