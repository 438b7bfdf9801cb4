/**
 * The authorities that an agent trusts. It joins with one of them, and follows what the cluster publishes while it runs, so
 * that it still trusts the cluster, and is trusted, when the authority has been replaced and the former one is forgotten.
 */
import { X509Certificate } from 'node:crypto';
import { join } from 'node:path';
import { readIfThere, writeWhole } from '../../../base/files/own/files.ts';
import { makeDirectories } from '../../../base/files/own/make-directories.ts';
import type { Logger } from '../../../base/log.ts';
import { type Clock, sleep } from '../../../base/time/clock.ts';
import type { InformerFactory } from '../../../client/informer/informer-factory.ts';
import { ConfigMap } from '../../../kinds/groups/core/configuration/config-map.ts';

const NAMESPACE = 'kube-public';
const NAME = 'kube-root-ca.crt';
const RETRY_MS = 10_000;

export interface AuthorityOptions {
  readonly informers: InformerFactory;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** Certificates that are trusted now, as PEM. */
  readonly trusted: string;
  /** Takes others into use; it is tried again when that fails. */
  readonly adopt: (authority: string) => Promise<void>;
}

/** Calls `adopt` when the cluster publishes other authorities than those that are trusted. */
export function followAuthority({ informers, clock, log, signal, trusted, adopt }: AuthorityOptions): void {
  const selection = { namespace: NAMESPACE, fieldSelector: `metadata.name=${NAME}` };
  const informer = informers.of(ConfigMap, selection);
  let wanted = trusted;
  let isWorking = false;
  const work = async () => {
    isWorking = true;
    while (!signal.aborted && !isSame(wanted, trusted)) {
      try {
        await adopt(wanted);
        break;
      } catch (error) {
        log.warn('the new authority of the cluster is not used yet', { error: String(error) });
        await sleep(clock, RETRY_MS, signal).catch(() => undefined);
      }
    }
    isWorking = false;
  };
  informer.onChange(() => {
    const [found] = informer.lister.list().map(({ data }) => data?.['ca.crt'] ?? '');
    // A ConfigMap that was deleted is made again.
    if (!found || !isBundle(found)) return;
    wanted = found;
    if (!isWorking) void work();
  });
}

const blocksOf = (pem: string): readonly string[] =>
  (pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []).map((block) => block.trim());

const isSame = (a: string, b: string) => blocksOf(a).join() === blocksOf(b).join();

function isBundle(pem: string): boolean {
  const blocks = blocksOf(pem);
  try {
    return blocks.length > 0 && blocks.every((block) => new X509Certificate(block).ca);
  } catch {
    return false;
  }
}

/** Reports whether the newest of these authorities has issued a certificate. */
export function isOfNewest(certificate: string, authority: string): boolean {
  const [newest] = blocksOf(authority);
  return newest !== undefined && new X509Certificate(certificate).verify(new X509Certificate(newest).publicKey);
}

interface Kept {
  /** The authorities that the agent was told of when these were adopted. */
  readonly told: string;
  readonly trusted: string;
}

const fileIn = (directory: string) => join(directory, 'pki', 'trusted.json');

/** Keeps the authorities that an agent trusts, which was told to trust others when it joined. */
export async function keepAuthority(directory: string, kept: Kept): Promise<void> {
  await makeDirectories(join(directory, 'pki'), 0o700);
  await writeWhole(fileIn(directory), `${JSON.stringify(kept)}\n`);
}

/** Returns the authorities that an agent trusts: those that it is told of, unless an earlier start has followed newer ones. */
export async function trustedAuthority(directory: string, told: string): Promise<string> {
  const text = await readIfThere(fileIn(directory));
  if (text === undefined) return told;
  const kept = JSON.parse(text) as Kept;
  const isKnown = [kept.told, kept.trusted].some((each) => blocksOf(each).includes(blocksOf(told)[0] ?? ''));
  return isKnown ? kept.trusted : told;
}
