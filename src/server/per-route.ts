import type { User } from './api.ts';
import type { Resource } from './registry.ts';

/** What a request is about, apart from the object's name and namespace. */
export interface Aim {
  readonly resource: Resource;
  readonly subresource: { readonly name: string } | undefined;
}

/**
 * What was worked out for a user, a verb and a resource: thousands of requests share it. Users are known by their object,
 * which authentication hands out again for the same credentials; who is somebody new is worked out anew.
 */
export class PerRoute<T> {
  #known = new WeakMap<User, Map<Resource, Map<string, T>>>();

  get(user: User, verb: string, { resource, subresource }: Aim): T | undefined {
    const parts = this.#known.get(user)?.get(resource);
    return parts?.get(subresource ? `${verb}/${subresource.name}` : verb);
  }

  set(user: User, verb: string, { resource, subresource, value }: Aim & { readonly value: T }): T {
    const resources = this.#known.get(user) ?? new Map<Resource, Map<string, T>>();
    const parts = resources.get(resource) ?? new Map<string, T>();
    parts.set(subresource ? `${verb}/${subresource.name}` : verb, value);
    resources.set(resource, parts);
    this.#known.set(user, resources);
    return value;
  }

  forget(): void {
    this.#known = new WeakMap();
  }
}
