/** The certificates of a node: requested from the cluster, kept in its directory, and renewed. */
import { X509Certificate } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeDirectories } from '../../../base/files/own/make-directories.ts';
import type { Logger } from '../../../base/log.ts';
import type { Random } from '../../../base/random.ts';
import { type Clock, sleep } from '../../../base/time/clock.ts';
import type { Client } from '../../../client/client.ts';
import { CertificateSigningRequest } from '../../../kinds/groups/access/certificates/certificate-signing-request.ts';
import { newKey } from '../../../protocols/x509/certificate.ts';
import { newRequest } from '../../../protocols/x509/request.ts';
import { AssemblyError } from '../../assembly-error.ts';

/** Purpose of a certificate: to act as the node at the server, or to serve the endpoint of its agent. */
type Purpose = 'client' | 'serving';

const PURPOSES = {
  client: { file: 'node', signer: 'kubernetes.io/kube-apiserver-client-kubelet', usage: 'client auth' },
  serving: { file: 'serving', signer: 'kubernetes.io/kubelet-serving', usage: 'server auth' },
} as const satisfies Record<Purpose, object>;

const CHECK_MS = 250;
const TIMEOUT_MS = 60_000;
const RETRY_MS = 5_000;
/** The retries of a request that nobody approves are far apart: each leaves an object behind. */
const MAX_RETRY_MS = 15 * 60_000;

export interface NodeCertificate {
  readonly cert: string;
  readonly key: string;
}

export interface StoredOptions {
  readonly purpose: Purpose;
  readonly directory: string;
  /** Certificates of the cluster's authorities, as PEM. */
  readonly authority: string;
}

/** Returns undefined when there is none, it has expired, or another cluster has issued it. */
export async function storedCertificate(
  { purpose, directory, authority }: StoredOptions,
  now: number,
): Promise<NodeCertificate | undefined> {
  const { file } = PURPOSES[purpose];
  const read = (name: string) => readFile(join(directory, 'pki', name), 'utf8').catch(() => undefined);
  const [cert, key] = await Promise.all([read(`${file}.crt`), read(`${file}.key`)]);
  if (!cert || !key) return undefined;
  const parsed = new X509Certificate(cert);
  const issuers = authority.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  const isOurs = issuers.some((issuer) => parsed.verify(new X509Certificate(issuer).publicKey));
  return isOurs && Date.parse(parsed.validTo) > now ? { cert, key } : undefined;
}

export interface CertificateOptions {
  /** Acts with the bootstrap token, or as the node itself. */
  readonly client: Client;
  readonly purpose: Purpose;
  readonly node: string;
  readonly directory: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly signal?: AbortSignal | undefined;
}

/** Requests a certificate, waits until it is issued, and keeps it. */
export async function requestCertificate(options: CertificateOptions): Promise<NodeCertificate> {
  const { client, purpose, node, directory, clock, random, signal } = options;
  const { signer: signerName, usage } = PURPOSES[purpose];
  const { privateKey } = await newKey();
  const subject = { commonName: `system:node:${node}`, organization: 'system:nodes' };
  const content = { subject, names: purpose === 'serving' ? [node] : undefined };
  const request = Buffer.from(newRequest(content, privateKey)).toString('base64');
  const requests = client.of(CertificateSigningRequest);
  const name = `node-csr-${random.bytes(8).toString('hex')}`;
  const spec = { request, signerName, usages: ['digital signature', usage] };
  await requests.create({ metadata: { name }, spec } as never);
  const deadline = clock.now() + TIMEOUT_MS;
  for (;;) {
    const { status } = await requests.get(name);
    const rejected = status?.conditions?.find(({ type }) => type === 'Denied' || type === 'Failed');
    if (rejected) throw new AssemblyError(`the certificate was rejected: ${rejected.message ?? rejected.reason}`);
    if (status?.certificate) {
      const cert = Buffer.from(status.certificate, 'base64').toString('utf8');
      const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
      await keep(directory, PURPOSES[purpose].file, { cert, key });
      return { cert, key };
    }
    if (clock.now() >= deadline) {
      throw new AssemblyError(
        `certificate request ${name} was not approved within a minute; kubectl certificate approve ${name} does it`,
      );
    }
    await sleep(clock, CHECK_MS, signal);
  }
}

export interface KeepOptions extends CertificateOptions {
  readonly signal: AbortSignal;
  readonly log: Logger;
  /** The certificate that there is; undefined: one is requested at once. */
  readonly first: NodeCertificate | undefined;
  /** Takes a certificate into use. */
  use(certificate: NodeCertificate): void;
}

/** Uses a certificate, and renews it in time, until the signal is aborted. The old one is used until there is a new one. */
export async function keepCertificate(options: KeepOptions): Promise<void> {
  const { clock, random, log, signal, purpose, use } = options;
  let current = options.first;
  let retryMs = RETRY_MS;
  while (!signal.aborted) {
    try {
      current ??= await requestCertificate(options);
      retryMs = RETRY_MS;
      use(current);
      await sleep(clock, Math.max(0, renewalTime(current, random) - clock.now()), signal);
      current = undefined;
    } catch (error) {
      if (signal.aborted) return;
      log.warn('a certificate of the node was not renewed', { purpose, error: String(error) });
      await sleep(clock, retryMs, signal).catch(() => undefined);
      retryMs = Math.min(MAX_RETRY_MS, 2 * retryMs);
    }
  }
}

/** When the certificate is renewed: after 70 to 90 per cent of its life. */
function renewalTime({ cert }: NodeCertificate, random: Random): number {
  const { validFrom, validTo } = new X509Certificate(cert);
  const [from, to] = [Date.parse(validFrom), Date.parse(validTo)];
  return from + (to - from) * (0.7 + (0.2 * random.int(1_001)) / 1_000);
}

/** The key comes first: a certificate without its key would be useless. */
async function keep(directory: string, file: string, { cert, key }: NodeCertificate): Promise<void> {
  const folder = join(directory, 'pki');
  await makeDirectories(folder, 0o700);
  for (const [name, content] of [
    [`${file}.key`, key],
    [`${file}.crt`, cert],
  ] as const) {
    const next = join(folder, `${name}.next`);
    await writeFile(next, content, { mode: 0o600 });
    await rename(next, join(folder, name));
  }
}
