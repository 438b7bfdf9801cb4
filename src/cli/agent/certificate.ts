/** The certificate of a node: requested with a bootstrap token or with the one before it, and kept in its directory. */
import { X509Certificate } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Clock, sleep } from '../../base/clock.ts';
import type { Random } from '../../base/random.ts';
import { newKey } from '../../base/x509/certificate.ts';
import { newRequest } from '../../base/x509/new-request.ts';
import { createClient } from '../../client/client.ts';
import type { Connection } from '../../client/kubeconfig/kubeconfig.ts';
import { httpsTransport } from '../../client/transport/https-transport.ts';
import { CertificateSigningRequest } from '../../kinds/groups/certificates/certificate-signing-request.ts';
import { CliError } from '../output/cli-error.ts';

const SIGNER = 'kubernetes.io/kube-apiserver-client-kubelet';
const CHECK_MS = 250;
const TIMEOUT_MS = 60_000;

export interface NodeCertificate {
  readonly cert: string;
  readonly key: string;
}

/** Returns undefined when there is none, or it has expired. */
export async function storedCertificate(directory: string, now: number): Promise<NodeCertificate | undefined> {
  const read = (name: string) => readFile(join(directory, 'pki', name), 'utf8').catch(() => undefined);
  const [cert, key] = await Promise.all([read('node.crt'), read('node.key')]);
  if (!cert || !key) return undefined;
  return Date.parse(new X509Certificate(cert).validTo) > now ? { cert, key } : undefined;
}

export interface CertificateOptions {
  /** Of the bootstrap token, or of the node itself. */
  readonly connection: Connection;
  readonly node: string;
  readonly directory: string;
  readonly clock: Clock;
  readonly random: Random;
}

/** Requests a certificate, waits until it is issued, and keeps it. */
export async function requestCertificate(options: CertificateOptions): Promise<NodeCertificate> {
  const { connection, node, clock, random } = options;
  const transport = httpsTransport({ ...connection, clock, userAgent: 'qd-agent' });
  try {
    const { privateKey } = await newKey();
    const subject = { commonName: `system:node:${node}`, organization: 'system:nodes' };
    const request = Buffer.from(newRequest({ subject }, privateKey)).toString('base64');
    const requests = createClient(transport).of(CertificateSigningRequest);
    const name = `node-csr-${random.bytes(8).toString('hex')}`;
    await requests.create({
      metadata: { name },
      spec: { request, signerName: SIGNER, usages: ['digital signature', 'client auth'] },
    } as never);
    const deadline = clock.now() + TIMEOUT_MS;
    for (;;) {
      const { status } = await requests.get(name);
      const refused = status?.conditions?.find(({ type }) => type === 'Denied' || type === 'Failed');
      if (refused) throw new CliError(`the certificate was refused: ${refused.message ?? refused.reason}`);
      if (status?.certificate) {
        const cert = Buffer.from(status.certificate, 'base64').toString('utf8');
        const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
        await keep(options.directory, { cert, key });
        return { cert, key };
      }
      if (clock.now() >= deadline) {
        throw new CliError(
          `certificate request ${name} was not approved within a minute; kubectl certificate approve ${name} does it`,
        );
      }
      await sleep(clock, CHECK_MS);
    }
  } finally {
    transport.close();
  }
}

/** When the certificate is renewed: after 70 to 90 per cent of its life. */
export function renewalTime({ cert }: NodeCertificate, random: Random): number {
  const { validFrom, validTo } = new X509Certificate(cert);
  const [from, to] = [Date.parse(validFrom), Date.parse(validTo)];
  return from + (to - from) * (0.7 + (0.2 * random.int(1_001)) / 1_000);
}

/** The key comes first: a certificate without its key would be useless. */
async function keep(directory: string, { cert, key }: NodeCertificate): Promise<void> {
  const folder = join(directory, 'pki');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for (const [name, content] of [
    ['node.key', key],
    ['node.crt', cert],
  ] as const) {
    const next = join(folder, `${name}.next`);
    await writeFile(next, content, { mode: 0o600 });
    await rename(next, join(folder, name));
  }
}
