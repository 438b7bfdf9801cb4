/** The certificates, tokens and passwords of a new federation. */
import { createHash } from 'node:crypto';
import type { Random } from '../../base/random.ts';
import { issue, newIssuer, newKey, type Subject } from '../../protocols/x509/certificate.ts';

/** A certificate and its key, as PEM. */
interface Identity {
  readonly cert: string;
  readonly key: string;
}

export interface Credentials {
  readonly ca: string;
  readonly server: Identity;
  readonly admin: Identity;
  readonly manager: Identity;
  readonly token: string;
  readonly password: string;
}

interface CredentialsOptions {
  readonly name: string;
  /** DNS names and addresses of the API server. */
  readonly names: readonly string[];
  readonly now: number;
  readonly random: Random;
}

const DAY_MS = 24 * 3_600_000;
const LIFETIME_MS = 3650 * DAY_MS;
const SECRET_BYTES = 24;

export async function createCredentials({ name, names, now, random }: CredentialsOptions): Promise<Credentials> {
  const validity = { notBefore: now - DAY_MS / 24, notAfter: now + LIFETIME_MS };
  const authority = await newKey();
  const subject: Subject = { commonName: name };
  const issuer = newIssuer(subject, authority.privateKey);
  const sign = async (request: { subject: Subject; usage: 'server' | 'client'; names?: readonly string[] }) => {
    const { privateKey, publicKey } = await newKey();
    const key = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
    return { cert: issue({ names: [], ...request, ...validity, publicKey }, issuer, random), key };
  };
  const [server, admin, manager] = await Promise.all([
    sign({ subject: { commonName: `${name}-apiserver` }, usage: 'server', names }),
    sign({ subject: { commonName: 'admin', organization: 'system:masters' }, usage: 'client' }),
    sign({ subject: { commonName: 'federation-controller-manager' }, usage: 'client' }),
  ]);
  const secret = () => random.bytes(SECRET_BYTES).toString('hex');
  const ca = issue({ subject, publicKey: authority.publicKey, usage: 'authority', ...validity }, issuer, random);
  return { ca, server, admin, manager, token: secret(), password: secret() };
}

/** Changes when any of the credentials does. */
export function credentialsDigest({ ca, server }: Credentials): string {
  return createHash('sha256').update(`${ca}${server.cert}`).digest('hex').slice(0, 16);
}
