import type { KeyObject } from 'node:crypto';
import type { User } from '../../../../api/user.ts';
import type { Clock } from '../../../../base/time/clock.ts';
import { Secret } from '../../../../kinds/groups/core/configuration/secret.ts';
import { Node } from '../../../../kinds/groups/core/node/node.ts';
import { Pod } from '../../../../kinds/groups/core/pod/pod.ts';
import { ServiceAccount } from '../../../../kinds/groups/core/service-account.ts';
import type { KubeObject } from '../../../../kinds/kind.ts';
import { authenticated } from '../authenticated.ts';
import type { Identified, TokenSource } from '../authenticator.ts';
import { BoundObject, type BoundReference, type Find } from './bound-objects.ts';
import { type Claims, isSignedBy, millisecondsOf, parseJwt } from './jwt.ts';
import { verifiedTokens } from './verified-tokens.ts';

/** The issuer of legacy tokens, which are stored in Secrets and do not expire. */
export const LEGACY_ISSUER = 'kubernetes/serviceaccount';

export interface ServiceAccountTokenOptions {
  /** Public keys of token signers, the current one first. Another list when they have changed. */
  readonly keys: readonly KeyObject[];
  /** Accepted issuers of bound tokens. */
  readonly issuers: readonly string[];
  /** Audiences of the server: a bound token must name one of these; a legacy token has all of them. */
  readonly audiences: readonly string[];
  readonly clock: Clock;
  /** Called on every use, so that the token of a deleted account or pod is invalid at once. */
  readonly find: Find;
}

interface Verified {
  readonly user: User;
  /** Audiences of the token; undefined for the server's own. */
  readonly audiences: readonly string[] | undefined;
  readonly isForServer: boolean;
  /** Milliseconds since the epoch. */
  readonly notBefore: number;
  readonly expires: number;
  readonly boundTo: readonly BoundObject[];
}

/** Tolerance for the clock of the server that issued a token. */
const CLOCK_LEEWAY_MS = 60_000;

/** Verifies service account tokens: legacy ones in a Secret, and ones bound to a time, an audience and an object. */
export class ServiceAccountTokens implements TokenSource {
  readonly #verified = verifiedTokens<Verified>();

  constructor(private readonly options: ServiceAccountTokenOptions) {}

  userOf(token: string): User | undefined {
    const verified = this.#valid(token);
    return verified?.isForServer ? verified.user : undefined;
  }

  review(token: string, wanted: readonly string[]): Identified | undefined {
    const verified = this.#valid(token);
    if (!verified) return undefined;
    const audiences = (verified.audiences ?? this.options.audiences).filter((each) => wanted.includes(each));
    return audiences.length > 0 ? { user: verified.user, audiences } : undefined;
  }

  #valid(token: string): Verified | undefined {
    if (!token.startsWith('ey')) return undefined;
    const verified = this.#verified.get(token) ?? this.#verify(token);
    if (!verified) return undefined;
    const now = this.options.clock.now();
    if (now < verified.notBefore) return undefined;
    if (now < verified.expires && this.#boundObjectsExist(verified, now)) return verified;
    this.#verified.delete(token);
    return undefined;
  }

  #boundObjectsExist({ boundTo }: Verified, now: number): boolean {
    for (const object of boundTo) if (!object.exists(this.options.find, now)) return false;
    return true;
  }

  #verify(token: string): Verified | undefined {
    const { keys, issuers, audiences: ours } = this.options;
    const jwt = parseJwt(token);
    if (!jwt) return undefined;
    const { claims } = jwt;
    const isLegacy = claims.iss === LEGACY_ISSUER;
    if (!isLegacy && !issuers.includes(claims.iss)) return undefined;
    if (!keys.some((key) => isSignedBy(jwt, key))) return undefined;
    const subject = isLegacy ? legacySubject(claims, token) : boundSubject(claims);
    if (!subject || claims.sub !== subject.user.name) return undefined;
    const audiences = isLegacy ? undefined : audiencesOf(claims);
    if (audiences?.length === 0) return undefined;
    const verified: Verified = {
      user: subject.user,
      audiences,
      isForServer: audiences === undefined || audiences.some((each) => ours.includes(each)),
      notBefore: (millisecondsOf(claims.nbf) ?? 0) - CLOCK_LEEWAY_MS,
      expires: millisecondsOf(claims.exp) ?? (isLegacy ? Number.POSITIVE_INFINITY : 0),
      boundTo: subject.references.map((reference) => new BoundObject(reference)),
    };
    this.#verified.set(token, verified);
    return verified;
  }
}

interface Subject {
  readonly user: User;
  /** The objects that must exist for the token to be valid. */
  readonly references: readonly BoundReference[];
}

const LEGACY_CLAIM_PREFIX = 'kubernetes.io/serviceaccount/';

function legacySubject(claims: Claims, token: string): Subject | undefined {
  const namespace = textOf(claims[`${LEGACY_CLAIM_PREFIX}namespace`]);
  const name = textOf(claims[`${LEGACY_CLAIM_PREFIX}service-account.name`]);
  const uid = textOf(claims[`${LEGACY_CLAIM_PREFIX}service-account.uid`]);
  const secret = textOf(claims[`${LEGACY_CLAIM_PREFIX}secret.name`]);
  if (!namespace || !name || !uid || !secret) return undefined;
  const encoded = Buffer.from(token).toString('base64');
  return {
    user: userOf({ namespace, name, uid }),
    references: [
      { kind: ServiceAccount, namespace, name, isSame: hasUid(uid) },
      { kind: Secret, namespace, name: secret, isSame: (found) => holdsToken(found as Secret, encoded) },
    ],
  };
}

const INVALID_SINCE = 'kubernetes.io/legacy-token-invalid-since';

/** Reports whether a Secret contains the token: a later Secret of the same name holds another one. */
function holdsToken({ data, metadata }: Secret, token: string): boolean {
  return data?.token === token && !metadata.labels?.[INVALID_SINCE] && !metadata.deletionTimestamp;
}

function boundSubject(claims: Claims): Subject | undefined {
  const bound = claims['kubernetes.io'];
  const namespace = textOf(bound?.namespace);
  const account = referenceOf(bound?.serviceaccount);
  if (!namespace || !account) return undefined;
  const references: BoundReference[] = [
    { kind: ServiceAccount, namespace, name: account.name, isSame: hasUid(account.uid) },
  ];
  const extra: Record<string, string[]> = {};
  const addExtra = (key: string, value: string) => {
    if (value) extra[`authentication.kubernetes.io/${key}`] = [value];
  };
  if (typeof claims.jti === 'string') addExtra('credential-id', `JTI=${claims.jti}`);
  const { secret, pod, node } = bound;
  if (secret) {
    const found = referenceOf(secret);
    if (!found) return undefined;
    references.push({ kind: Secret, namespace, name: found.name, isSame: hasUid(found.uid) });
  }
  if (pod) {
    const found = referenceOf(pod);
    if (!found) return undefined;
    references.push({ kind: Pod, namespace, name: found.name, isSame: hasUid(found.uid) });
    addExtra('pod-name', found.name);
    addExtra('pod-uid', found.uid);
  }
  if (node) {
    const found = referenceOf(node);
    // A pod's token is bound to the pod; the node in it is informational.
    if (!found && !pod) return undefined;
    if (found && !pod) references.push({ kind: Node, namespace: '', name: found.name, isSame: hasUid(found.uid) });
    addExtra('node-name', textOf(node.name) ?? '');
    addExtra('node-uid', textOf(node.uid) ?? '');
  }
  return { user: userOf({ namespace, ...account, extra }), references };
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
    extra: Object.keys(extra).length > 0 ? extra : undefined,
  });
}
