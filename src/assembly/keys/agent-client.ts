/** The client certificate that the server shows to agents. It lives in memory, and is made when the first agent is reached. */
import { X509Certificate } from 'node:crypto';
import { SERVER_USER } from '../../api/machine-upgrade.ts';
import type { Random } from '../../base/random.ts';
import type { Clock } from '../../base/time/clock.ts';
import type { Subject } from '../../protocols/x509/certificate.ts';
import type { AgentIdentity } from '../../server/outbound/nodes/agent-connection.ts';
import { BACKDATED_MS, type Pki, pemOf } from './pki.ts';

/** As kubeadm names it. The group is the one that every authorizer knows. */
const SUBJECT: Subject = { commonName: SERVER_USER.name, organization: SERVER_USER.group };
const LIFETIME_MS = 24 * 3_600_000;
const RENEW_BEFORE_MS = LIFETIME_MS / 4;

interface Issued {
  readonly identity: AgentIdentity;
  readonly signer: string;
  readonly renewAt: number;
}

/** `pki` returns the current keys. A certificate is replaced before it expires, and when the authority was. */
export function agentClientIdentity(
  pki: () => Pki,
  { clock, random }: { readonly clock: Clock; readonly random: Random },
): () => Promise<AgentIdentity> {
  let issued: Promise<Issued> | undefined;
  return async () => {
    const known = await issued?.catch(() => undefined);
    if (known && known.renewAt > clock.now() && known.signer === pki().authority) return known.identity;
    issued = issueIdentity(pki(), clock.now(), random);
    return (await issued).identity;
  };
}

async function issueIdentity({ authority, signing, serving }: Pki, now: number, random: Random): Promise<Issued> {
  const { issue, issuerOf, newKey } = await import('../../protocols/x509/certificate.ts');
  const { privateKey, publicKey } = await newKey();
  const end = Date.parse(new X509Certificate(signing.certificate).validTo);
  const notAfter = Math.min(end, now + LIFETIME_MS);
  const request = { subject: SUBJECT, usage: 'client' as const, names: [], publicKey, notBefore: now - BACKDATED_MS };
  const cert = issue({ ...request, notAfter }, issuerOf(signing.certificate, signing.key), random);
  return {
    identity: { ca: authority, cert: cert + intermediates(serving.certificate), key: pemOf(privateKey) },
    signer: authority,
    renewAt: notAfter - RENEW_BEFORE_MS,
  };
}

/** Certificates that link this authority to those that agents have known for longer. */
function intermediates(chain: string): string {
  const end = '-----END CERTIFICATE-----\n';
  return chain.slice(chain.indexOf(end) + end.length);
}
