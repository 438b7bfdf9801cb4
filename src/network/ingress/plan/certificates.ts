/** The certificates of Ingresses, from Secrets. Pure. */

import type { DeepReadonly } from '../../../api/object-types.ts';
import { memoized } from '../../../base/collections/memoized.ts';
import { sameItems } from '../../../base/collections/same-items.ts';
import type { DividedWork, Pace } from '../../../base/event-loop/in-turns.ts';
import type { Secret } from '../../../kinds/groups/core/configuration/secret.ts';
import { ALL_HOSTS } from '../../../kinds/groups/networking/ingress-host-times.ts';
import type { IngressCertificate } from '../config.ts';
import { type HostOwners, mayServe } from './owners.ts';
import { type IngressRules, namespaceOf, type RulesByName } from './rules.ts';

type SecretOf = (namespace: string, name: string) => DeepReadonly<Secret> | undefined;

interface CertificateSources {
  readonly rules: RulesByName;
  readonly owners: HostOwners['owners'];
  /** Certificates of the plan before: unchanged ones stay the same objects. */
  readonly known: readonly IngressCertificate[] | undefined;
}

export function* certificatesOf(
  secretOf: SecretOf,
  { rules, owners, known }: CertificateSources,
  pace: Pace,
): DividedWork<readonly IngressCertificate[]> {
  const certificates: IngressCertificate[] = [];
  for (const each of rules.values()) {
    const { ingress } = each;
    for (const { hosts: named = NO_HOSTS, secretName } of ingress.spec?.tls ?? []) {
      if (pace.isSpent()) yield;
      const hosts = certifiedHosts(named, each, owners);
      if (!hosts) continue;
      const secret = secretName ? secretOf(ingress.metadata.namespace ?? '', secretName) : undefined;
      const pair = secret && pairOf(secret);
      if (!pair) continue;
      const old = known?.[certificates.length];
      const isKnown = old && sameItems(old.hosts, hosts) && old.cert === pair.cert && old.key === pair.key;
      certificates.push(isKnown ? old : { hosts, ...pair });
    }
  }
  return known && sameItems(known, certificates) ? known : certificates;
}

const NO_HOSTS: readonly string[] = [];

/**
 * Returns the hosts that a certificate is for, without those of other namespaces; undefined when there are none. A
 * certificate without host names is for all hosts, or, when those belong to another namespace, for the hosts of the
 * Ingress.
 */
function certifiedHosts(
  named: readonly string[],
  rules: IngressRules,
  owners: HostOwners['owners'],
): readonly string[] | undefined {
  const namespace = namespaceOf(rules);
  const isFree = (host: string) => mayServe(owners, host, namespace);
  if (named.length === 0 && isFree(ALL_HOSTS)) return NO_HOSTS;
  const candidates = named.length > 0 ? named : [...rules.hosts.keys()].filter((host) => host !== ALL_HOSTS);
  if (candidates === named && named.every(isFree)) return named;
  const hosts = candidates.filter(isFree);
  return hosts.length > 0 ? hosts : undefined;
}

interface Pair {
  readonly cert: string;
  readonly key: string;
}

/** Cached: many Ingresses may use one Secret. */
const pairOf = memoized(({ data = {} }: DeepReadonly<Secret>): Pair | undefined => {
  const { 'tls.crt': cert, 'tls.key': key } = data;
  const text = (base64: string) => Buffer.from(base64, 'base64').toString();
  return cert && key ? { cert: text(cert), key: text(key) } : undefined;
});
