/** Divides the differences between two configs into parts that are small enough for one message each. Pure. */
import type { Pace } from '../../base/event-loop/in-turns.ts';
import type { BackendAddress, IngressCertificate, IngressConfig, PathRule } from './config.ts';

export type ConfigChange =
  /** `isMore`: the rules come behind those of the change before. */
  | { readonly type: 'rules'; readonly host: string; readonly rules: readonly PathRule[]; readonly isMore: boolean }
  | { readonly type: 'removeHost'; readonly host: string }
  | { readonly type: 'owner'; readonly host: string; readonly namespace: string }
  | { readonly type: 'removeOwner'; readonly host: string }
  | { readonly type: 'backend'; readonly key: string; readonly addresses: readonly BackendAddress[] }
  | { readonly type: 'removeBackend'; readonly key: string }
  | { readonly type: 'defaultBackend'; readonly key: string | undefined }
  | { readonly type: 'removeCertificates' }
  /** Adds a pair. Many certificates may have one pair: it is sent once. */
  | { readonly type: 'pair'; readonly cert: string; readonly key: string }
  /** Assigns the pair with this index to these hosts. */
  | { readonly type: 'certificate'; readonly hosts: readonly string[]; readonly pair: number };

/** Rules and addresses of one message: some milliseconds to copy. */
export const MAX_PART = 1_000;

/**
 * Yields a part when it is full, and the present part, even an empty one, when the turn is used up. Returns the last
 * part. Lists that are the same object are not compared.
 */
export function* changesBetween(
  before: IngressConfig,
  after: IngressConfig,
  pace: Pace,
): Generator<readonly ConfigChange[], readonly ConfigChange[]> {
  let part: ConfigChange[] = [];
  let weight = 0;
  for (const change of allChanges(before, after)) {
    if (change) {
      part.push(change);
      weight += weightOf(change);
    }
    if (weight < MAX_PART && !pace.isSpent()) continue;
    yield part;
    part = [];
    weight = 0;
  }
  return part;
}

/** Yields changes, and undefined for each item that is the same. */
function* allChanges(before: IngressConfig, after: IngressConfig): Generator<ConfigChange | undefined> {
  // Rules lead to backends: those come first.
  for (const [key, addresses] of differing(before.backends, after.backends)) {
    yield before.backends.get(key) === addresses ? undefined : { type: 'backend', key, addresses };
  }
  for (const [host, rules] of differing(before.hosts, after.hosts)) {
    if (before.hosts.get(host) === rules) {
      yield undefined;
      continue;
    }
    yield { type: 'rules', host, rules: rules.slice(0, MAX_PART), isMore: false };
    for (let at = MAX_PART; at < rules.length; at += MAX_PART) {
      yield { type: 'rules', host, rules: rules.slice(at, at + MAX_PART), isMore: true };
    }
  }
  for (const [host, namespace] of differing(before.owners, after.owners)) {
    yield before.owners.get(host) === namespace ? undefined : { type: 'owner', host, namespace };
  }
  if (before.defaultBackend !== after.defaultBackend) yield { type: 'defaultBackend', key: after.defaultBackend };
  if (before.certificates !== after.certificates) yield* certificateChanges(after.certificates);
  for (const [host] of differing(after.hosts, before.hosts)) {
    yield after.hosts.has(host) ? undefined : { type: 'removeHost', host };
  }
  for (const [host] of differing(after.owners, before.owners)) {
    yield after.owners.has(host) ? undefined : { type: 'removeOwner', host };
  }
  for (const [key] of differing(after.backends, before.backends)) {
    yield after.backends.has(key) ? undefined : { type: 'removeBackend', key };
  }
}

/** Returns the entries of a map; none when it is the other one. */
const differing = <T>(other: ReadonlyMap<string, T>, map: ReadonlyMap<string, T>): Iterable<[string, T]> =>
  other === map ? [] : map;

function* certificateChanges(certificates: readonly IngressCertificate[]): Generator<ConfigChange> {
  yield { type: 'removeCertificates' };
  const pairs = new Map<string, Map<string, number>>();
  let count = 0;
  for (const { hosts, cert, key } of certificates) {
    const byKey = pairs.get(cert) ?? new Map<string, number>();
    let pair = byKey.get(key);
    if (pair === undefined) {
      pair = count++;
      pairs.set(cert, byKey.set(key, pair));
      yield { type: 'pair', cert, key };
    }
    yield { type: 'certificate', hosts, pair };
  }
}

/** Returns the number of objects that are copied. A pair is one message: it may be large. */
function weightOf(change: ConfigChange): number {
  switch (change.type) {
    case 'rules':
      return 1 + change.rules.length;
    case 'backend':
      return 1 + change.addresses.length;
    case 'certificate':
      return 1 + change.hosts.length;
    case 'pair':
      return MAX_PART;
    default:
      return 1;
  }
}

/** A config that follows another one by its changes. */
export class ConfigReplica {
  readonly #hosts = new Map<string, readonly PathRule[]>();
  readonly #owners = new Map<string, string>();
  readonly #backends = new Map<string, readonly BackendAddress[]>();
  #defaultBackend: string | undefined;
  #certificates: readonly IngressCertificate[] = [];
  #waiting: (readonly ConfigChange[])[] = [];

  get config(): IngressConfig {
    return {
      hosts: this.#hosts,
      owners: this.#owners,
      backends: this.#backends,
      defaultBackend: this.#defaultBackend,
      certificates: this.#certificates,
    };
  }

  /** Takes a part. Nothing changes before the last part is here. */
  take(part: readonly ConfigChange[], isLast: boolean): void {
    this.#waiting.push(part);
    if (!isLast) return;
    const parts = this.#waiting;
    this.#waiting = [];
    this.#apply(parts);
  }

  #apply(parts: readonly (readonly ConfigChange[])[]): void {
    let rules: PathRule[] = [];
    let certificates: IngressCertificate[] = [];
    const pairs: { readonly cert: string; readonly key: string }[] = [];
    for (const change of parts.flat()) {
      switch (change.type) {
        case 'rules':
          if (!change.isMore) {
            rules = [];
            this.#hosts.set(change.host, rules);
          }
          for (const rule of change.rules) rules.push(rule);
          break;
        case 'removeHost':
          this.#hosts.delete(change.host);
          break;
        case 'owner':
          this.#owners.set(change.host, change.namespace);
          break;
        case 'removeOwner':
          this.#owners.delete(change.host);
          break;
        case 'backend':
          this.#backends.set(change.key, change.addresses);
          break;
        case 'removeBackend':
          this.#backends.delete(change.key);
          break;
        case 'defaultBackend':
          this.#defaultBackend = change.key;
          break;
        case 'removeCertificates':
          certificates = [];
          this.#certificates = certificates;
          break;
        case 'pair':
          pairs.push({ cert: change.cert, key: change.key });
          break;
        case 'certificate':
          certificates.push({ hosts: change.hosts, ...pairs[change.pair]! });
          break;
      }
    }
  }
}
