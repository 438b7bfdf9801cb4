/** Asks the server about clients of the endpoint: who has a token, and who may do what. Answers are kept for a while. */
import { createHash } from 'node:crypto';
import { BoundedMap } from '../../../base/collections/bounded-map.ts';
import type { Clock } from '../../../base/time/clock.ts';
import type { Client } from '../../../client/client.ts';
import { TokenReview } from '../../../kinds/groups/access/authentication/token-review.ts';
import { SubjectAccessReview } from '../../../kinds/groups/access/authorization/subject-access-review.ts';

export interface EndpointUser {
  readonly name: string;
  readonly uid?: string | undefined;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>> | undefined;
}

/** As long as kubelet keeps them. */
const TOKEN_MS = 120_000;
const ALLOWED_MS = 300_000;
const DENIED_MS = 30_000;
const MAX_ANSWERS_BYTES = 1024 * 1024;

interface Answer<T> {
  readonly value: T;
  readonly until: number;
}

export class Reviews {
  readonly #users = new BoundedMap<Answer<EndpointUser>>({
    maxBytes: MAX_ANSWERS_BYTES,
    bytesOf: ({ value }) => 2 * JSON.stringify(value).length,
  });
  readonly #decisions = new BoundedMap<Answer<boolean>>({ maxBytes: MAX_ANSWERS_BYTES, bytesOf: () => 16 });

  constructor(
    private readonly client: Client,
    private readonly clock: Clock,
    private readonly node: string,
  ) {}

  /** Undefined if the token is not valid. Rejects when the server does not answer. */
  async userOf(token: string): Promise<EndpointUser | undefined> {
    const key = createHash('sha256').update(token).digest('base64');
    const now = this.clock.now();
    const known = this.#users.get(key);
    if (known && known.until > now) return known.value;
    const { status } = await this.client.of(TokenReview).create({ spec: { token } } as never);
    const user = status?.user;
    if (!status?.authenticated || !user?.username) return undefined;
    const { username: name, uid, groups = [], extra } = user;
    const value: EndpointUser = { name, uid, groups, extra };
    this.#users.set(key, { value, until: now + TOKEN_MS });
    return value;
  }

  /** Reports whether a user has a right on a subresource of the node. Rejects when the server does not answer. */
  async isAllowed(user: EndpointUser, verb: string, subresource: string): Promise<boolean> {
    const key = JSON.stringify([verb, subresource, user.name, user.uid, user.groups, user.extra]);
    const now = this.clock.now();
    const known = this.#decisions.get(key);
    if (known && known.until > now) return known.value;
    const { name, uid, groups, extra } = user;
    const { status } = await this.client.of(SubjectAccessReview).create({
      spec: {
        user: name,
        groups,
        uid: uid || undefined,
        extra,
        resourceAttributes: { version: 'v1', resource: 'nodes', name: this.node, verb, subresource },
      },
    } as never);
    const value = status?.allowed ?? false;
    this.#decisions.set(key, { value, until: now + (value ? ALLOWED_MS : DENIED_MS) });
    return value;
  }
}
