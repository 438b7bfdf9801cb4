/**
 * What the pods of each node refer to. Follows the cache without work on the way of a write: changed pods are noted, and
 * looked at when a node asks next. Where no node ever asks, nothing is kept at all.
 */

import { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import type { Cache } from '../../cache/cache.ts';
import type { ObjectKey } from '../../cache/entry.ts';
import { type ReferredKind, referencesOf } from './references.ts';

/** A pod that a node was told to make may not give the node access to anything. */
export const MIRROR = 'kubernetes.io/config.mirror';

/** How many changed pods are noted before all is forgotten. */
const NOTED = 20_000;

export class NodePods {
  readonly #cache: Cache;
  /** By node: what its pods refer to, by pod. */
  readonly #nodes = new Map<string, Map<string, ReadonlySet<string>>>();
  readonly #nodeOfPod = new Map<string, string>();
  #changed: Map<string, ObjectKey> | undefined;

  constructor(cache: Cache) {
    this.#cache = cache;
    cache.table(Pod).listeners.add(({ at }) => this.#note(at));
  }

  #note(at: ObjectKey): void {
    if (!this.#changed) return;
    if (this.#changed.size < NOTED) {
      this.#changed.set(at.key, at);
      return;
    }
    // Nobody has asked for long: whoever does again starts anew.
    this.#changed = undefined;
    this.#nodes.clear();
    this.#nodeOfPod.clear();
  }

  /** Whether a pod of the node refers to the object. */
  needs(node: string, kind: ReferredKind, at: { readonly namespace: string; readonly name: string }): boolean {
    const wanted = keyOf(kind, at);
    for (const references of this.#of(node)) if (references.has(wanted)) return true;
    return false;
  }

  /** The claims of the node's pods. */
  *claims(node: string): Generator<{ readonly namespace: string; readonly name: string }> {
    for (const references of this.#of(node)) {
      for (const reference of references) {
        const [kind, namespace = '', name = ''] = reference.split('/');
        if (kind === 'persistentvolumeclaims') yield { namespace, name };
      }
    }
  }

  #of(node: string): Iterable<ReadonlySet<string>> {
    if (!this.#changed) {
      this.#changed = new Map();
      for (const { at } of this.#cache.table(Pod).entries('')) this.#look(at);
    } else if (this.#changed.size > 0) {
      for (const at of this.#changed.values()) this.#look(at);
      this.#changed.clear();
    }
    return this.#nodes.get(node)?.values() ?? [];
  }

  #look({ key, namespace, name }: ObjectKey): void {
    const before = this.#nodeOfPod.get(key);
    if (before !== undefined) {
      const pods = this.#nodes.get(before);
      pods?.delete(key);
      if (pods?.size === 0) this.#nodes.delete(before);
      this.#nodeOfPod.delete(key);
    }
    const pod = this.#cache.table(Pod).get(namespace, name)?.hub(Pod);
    const node = pod?.spec.nodeName;
    if (!pod || !node) return;
    const isMirror = pod.metadata.annotations?.[MIRROR] !== undefined;
    const references = isMirror ? [] : referencesOf(pod);
    const pods = this.#nodes.get(node) ?? new Map<string, ReadonlySet<string>>();
    this.#nodes.set(
      node,
      pods.set(key, new Set(references.map((each) => keyOf(each.kind, { namespace, name: each.name })))),
    );
    this.#nodeOfPod.set(key, node);
  }
}

function keyOf(kind: ReferredKind, { namespace, name }: { namespace: string; name: string }): string {
  return `${kind}/${namespace}/${name}`;
}
