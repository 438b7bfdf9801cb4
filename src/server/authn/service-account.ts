import type { KeyObject } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import { Node } from '../../kinds/groups/core/node/node.ts';
import { Pod } from '../../kinds/groups/core/pod/pod.ts';
import { Secret } from '../../kinds/groups/core/secret.ts';
import { ServiceAccount } from '../../kinds/groups/core/service-account.ts';
import type { KubeObject } from '../../kinds/kind.ts';
import type { User } from '../api.ts';
import { authenticated, type Identified, type TokenSource } from './authenticator.ts';
import { type Find, Hold, type Wanted } from './existence.ts';
import { type Claims, isSignedBy, millisecondsOf, parseJwt } from './jwt.ts';
import { Remembered } from './remembered.ts';

/** Whom tokens that are kept in Secrets are from. */
export const LASTING_ISSUER = 'kubernetes/serviceaccount';

export interface ServiceAccountTokenOptions {
  /** Public keys that sign tokens, the one in use first. */
  readonly keys: readonly KeyObject[];
  /** Addresses that tokens bound to a time are from. */
  readonly issuers: readonly string[];
  /** A bound token must name one of these; a lasting one is for them. */
  readonly audiences: readonly string[];
  readonly clock: Clock;
  /** Asked on every use, so that the token of a deleted account or pod ends at once. */
  readonly find: Find;
}

interface Verified {
  readonly user: User;
  /** Undefined: for the server. */
  readonly audiences: readonly string[] | undefined;
  /** Whether it is for the server. */
  readonly isOurs: boolean;
  /** Milliseconds since the epoch. */
  readonly notBefore: number;
  readonly expires: number;
  readonly holds: readonly Hold[];
}

const REMEMBERED = 10_000;
/** Another server's clock may be ahead of ours: milliseconds. */
const LEEWAY = 60_000;

/** Signed tokens of service accounts, in both shapes: kept in a Secret, or bound to a time, an audience and an object. */
export class ServiceAccountTokens implements TokenSource {
  readonly #options: ServiceAccountTokenOptions;
  readonly #known = new Remembered<Verified>(REMEMBERED);

  constructor(options: ServiceAccountTokenOptions) {
    this.#options = options;
  }

  userOf(token: string): User | undefined {
    const verified = this.#good(token);
    return verified?.isOurs ? verified.user : undefined;
  }

  review(token: string, wanted: readonly string[]): Identified | undefined {
    const verified = this.#good(token);
    if (!verified) return undefined;
    const audiences = (verified.audiences ?? this.#options.audiences).filter((each) => wanted.includes(each));
    return audiences.length > 0 ? { user: verified.user, audiences } : undefined;
  }

  #good(token: string): Verified | undefined {
    if (!token.startsWith('ey')) return undefined;
    const verified = this.#known.get(token) ?? this.#verify(token);
    if (!verified) return undefined;
    const now = this.#options.clock.now();
    if (now < verified.notBefore) return undefined;
    if (now < verified.expires && this.#isHeld(verified, now)) return verified;
    this.#known.forget(token);
    return undefined;
  }

  #isHeld({ holds }: Verified, now: number): boolean {
    for (const hold of holds) if (!hold.isThere(this.#options.find, now)) return false;
    return true;
  }

  #verify(token: string): Verified | undefined {
    const { keys, issuers, audiences: ours } = this.#options;
    const jwt = parseJwt(token);
    if (!jwt) return undefined;
    const { claims } = jwt;
    const isLasting = claims.iss === LASTING_ISSUER;
    if (!isLasting && !issuers.includes(claims.iss)) return undefined;
    if (!keys.some((key) => isSignedBy(jwt, key))) return undefined;
    const subject = isLasting ? lastingSubject(claims, token) : boundSubject(claims);
    if (!subject || claims.sub !== subject.user.name) return undefined;
    const audiences = isLasting ? undefined : audiencesOf(claims);
    if (audiences?.length === 0) return undefined;
    const verified: Verified = {
      user: subject.user,
      audiences,
      isOurs: audiences === undefined || audiences.some((each) => ours.includes(each)),
      notBefore: (millisecondsOf(claims.nbf) ?? 0) - LEEWAY,
      expires: millisecondsOf(claims.exp) ?? (isLasting ? Number.POSITIVE_INFINITY : 0),
      holds: subject.wanted.map((each) => new Hold(each)),
    };
    this.#known.set(token, verified);
    return verified;
  }
}

interface Subject {
  readonly user: User;
  /** What must still exist for the token to be good. */
  readonly wanted: readonly Wanted[];
}

const PREFIX = 'kubernetes.io/serviceaccount/';

function lastingSubject(claims: Claims, token: string): Subject | undefined {
  const namespace = textOf(claims[`${PREFIX}namespace`]);
  const name = textOf(claims[`${PREFIX}service-account.name`]);
  const uid = textOf(claims[`${PREFIX}service-account.uid`]);
  const secret = textOf(claims[`${PREFIX}secret.name`]);
  if (!namespace || !name || !uid || !secret) return undefined;
  const encoded = Buffer.from(token).toString('base64');
  return {
    user: userOf({ namespace, name, uid }),
    wanted: [
      { kind: ServiceAccount, namespace, name, is: hasUid(uid) },
      { kind: Secret, namespace, name: secret, is: (found) => holdsToken(found as Secret, encoded) },
    ],
  };
}

const INVALID_SINCE = 'kubernetes.io/legacy-token-invalid-since';

/** A Secret of the same name that was made later holds another token. */
function holdsToken({ data, metadata }: Secret, token: string): boolean {
  return data?.token === token && !metadata.labels?.[INVALID_SINCE] && !metadata.deletionTimestamp;
}

function boundSubject(claims: Claims): Subject | undefined {
  const bound = claims['kubernetes.io'];
  const namespace = textOf(bound?.namespace);
  const account = referenceOf(bound?.serviceaccount);
  if (!namespace || !account) return undefined;
  const wanted: Wanted[] = [{ kind: ServiceAccount, namespace, name: account.name, is: hasUid(account.uid) }];
  const extra: Record<string, string[]> = {};
  const note = (key: string, value: string) => {
    if (value) extra[`authentication.kubernetes.io/${key}`] = [value];
  };
  if (typeof claims.jti === 'string') note('credential-id', `JTI=${claims.jti}`);
  const { secret, pod, node } = bound;
  if (secret) {
    const found = referenceOf(secret);
    if (!found) return undefined;
    wanted.push({ kind: Secret, namespace, name: found.name, is: hasUid(found.uid) });
  }
  if (pod) {
    const found = referenceOf(pod);
    if (!found) return undefined;
    wanted.push({ kind: Pod, namespace, name: found.name, is: hasUid(found.uid) });
    note('pod-name', found.name);
    note('pod-uid', found.uid);
  }
  if (node) {
    const found = referenceOf(node);
    // A pod's token names the node for information; the pod is what it is bound to.
    if (!found && !pod) return undefined;
    if (found && !pod) wanted.push({ kind: Node, namespace: '', name: found.name, is: hasUid(found.uid) });
    note('node-name', textOf(node.name) ?? '');
    note('node-uid', textOf(node.uid) ?? '');
  }
  return { user: userOf({ namespace, ...account, extra }), wanted };
}

function hasUid(uid: string): (object: KubeObject) => boolean {
  return ({ metadata }) => metadata.uid === uid;
}

function referenceOf(value: any): { name: string; uid: string } | undefined {
  const name = textOf(value?.name);
  const uid = textOf(value?.uid);
  return name && uid ? { name, uid } : undefined;
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value ? value : undefined;
}

function audiencesOf({ aud }: Claims): string[] {
  return [aud].flat().filter((each) => typeof each === 'string');
}

interface Account {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly extra?: Readonly<Record<string, string[]>>;
}

function userOf({ namespace, name, uid, extra = {} }: Account): User {
  return authenticated({
    name: `system:serviceaccount:${namespace}:${name}`,
    uid,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`],
    ...(Object.keys(extra).length > 0 ? { extra } : {}),
  });
}
