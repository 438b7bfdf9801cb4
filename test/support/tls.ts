import type { KeyObject } from 'node:crypto';
import { systemRandom } from '../../src/base/random.ts';
import {
  type CertificateRequest,
  issue,
  newIssuer,
  newKey,
  type Subject,
} from '../../src/protocols/x509/certificate.ts';

/** A certificate with its key, as PEM. */
interface KeyPair {
  readonly cert: string;
  readonly key: string;
}

/** An authority made for one test run, for servers and clients on loopback. */
export interface TestAuthority {
  readonly ca: string;
  server(...names: readonly string[]): Promise<KeyPair>;
  client(name: string, group?: string, validity?: Validity): Promise<KeyPair>;
}

interface Validity {
  /** Milliseconds since the epoch. */
  readonly notAfter: number;
  readonly notBefore?: number;
}

const DAY = 86_400_000;

export async function testAuthority(commonName = 'test-ca'): Promise<TestAuthority> {
  const { privateKey, publicKey } = await newKey();
  const subject: Subject = { commonName };
  const issuer = newIssuer(subject, privateKey);
  const sign = (
    request: Pick<CertificateRequest, 'subject' | 'publicKey' | 'usage' | 'names'>,
    validity: Validity = { notAfter: Date.now() + DAY },
  ) => issue({ notBefore: Date.now() - DAY, ...request, ...validity }, issuer, systemRandom);
  return {
    ca: sign({ subject, publicKey, usage: 'authority' }),
    async server(...more) {
      const pair = await newKey();
      const names = ['localhost', '127.0.0.1', ...more];
      return {
        cert: sign({ subject: { commonName: 'server' }, publicKey: pair.publicKey, usage: 'server', names }),
        key: pem(pair.privateKey),
      };
    },
    async client(name, group, validity) {
      const pair = await newKey();
      const who: Subject = group === undefined ? { commonName: name } : { commonName: name, organization: group };
      return {
        cert: sign({ subject: who, publicKey: pair.publicKey, usage: 'client' }, validity),
        key: pem(pair.privateKey),
      };
    },
  };
}

function pem(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }) as string;
}
