import type { User } from './api.ts';
import type { Resource } from './registry.ts';

/** What a request is about, apart from the object's name and namespace. */
export interface Aim {
  readonly resource: Resource;
  readonly subresource: { readonly name: string } | undefined;
}

/** What was worked out for all requests of a sort. Whoever works something out has a field of his own. */
export class Memo {
  /** The rules of the audit policy that may count. */
  audit: unknown;
  /** The flow schemas that they may belong to, as of a generation of those. */
  flow: unknown;
  flowGeneration = -1;
}

/** What is known of one user's requests. */
class UserMemos {
  readonly #memos = new WeakMap<Resource, Map<string, Memo>>();
  #resource: Resource | undefined;
  #sort = '';
  #last = new Memo();

  of(verb: string, { resource, subresource }: Aim): Memo {
    const sort = subresource ? `${verb}/${subresource.name}` : verb;
    // Clients do the same again more often than not.
    if (resource === this.#resource && sort === this.#sort) return this.#last;
    const sorts = this.#memos.get(resource) ?? new Map<string, Memo>();
    const memo = sorts.get(sort) ?? new Memo();
    this.#memos.set(resource, sorts.set(sort, memo));
    this.#resource = resource;
    this.#sort = sort;
    this.#last = memo;
    return memo;
  }
}

/**
 * Sorts of requests: by user, verb and resource. Thousands of requests share one. Users are known by their object, which
 * authentication hands out again for the same credentials; for a user that is new, everything is worked out anew.
 */
export class PerRoute {
  readonly #users = new WeakMap<User, UserMemos>();

  memo(user: User, verb: string, aim: Aim): Memo {
    let memos = this.#users.get(user);
    if (!memos) {
      memos = new UserMemos();
      this.#users.set(user, memos);
    }
    return memos.of(verb, aim);
  }
}
