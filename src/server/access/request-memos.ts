import type { User } from '../../api/user.ts';
import type { Resource } from '../objects/registry/registry.ts';

/** The target of a request, apart from the name and namespace of the object. */
interface RequestTarget {
  readonly resource: Resource;
  readonly subresource: { readonly name: string } | undefined;
}

/** Results cached for all requests of one user, verb and resource. Each component has its own field. */
export class Memo {
  /** Audit: the rules of the policy that may match. */
  audit: unknown;
  /** Flow control: the flow schemas that may match, and their generation. */
  flow: unknown;
  flowGeneration = -1;
}

class UserMemos {
  readonly #memos = new WeakMap<Resource, Map<string, Memo>>();
  #lastResource: Resource | undefined;
  #lastKey = '';
  #last = new Memo();

  of(verb: string, { resource, subresource }: RequestTarget): Memo {
    const key = subresource ? `${verb}/${subresource.name}` : verb;
    // Most requests of a client are like the previous one.
    if (resource === this.#lastResource && key === this.#lastKey) return this.#last;
    const memos = this.#memos.get(resource) ?? new Map<string, Memo>();
    const memo = memos.get(key) ?? new Memo();
    this.#memos.set(resource, memos.set(key, memo));
    this.#lastResource = resource;
    this.#lastKey = key;
    this.#last = memo;
    return memo;
  }
}

/**
 * Memos by user, verb and resource, which thousands of requests share. Users are compared by identity: authentication
 * returns the same object for the same credentials.
 */
export class RequestMemos {
  readonly #users = new WeakMap<User, UserMemos>();

  memo(user: User, verb: string, target: RequestTarget): Memo {
    let memos = this.#users.get(user);
    if (!memos) {
      memos = new UserMemos();
      this.#users.set(user, memos);
    }
    return memos.of(verb, target);
  }
}
