/**
 * An index of the objects that the pods of each node refer to. A write only records which pod changed; the index is
 * updated on the next request of a node. Without requests from nodes, nothing is kept.
 */
import { Pod } from '../../../../kinds/groups/core/pod/pod.ts';
import type { Cache } from '../../../objects/cache/cache.ts';
import type { ObjectKey } from '../../../objects/cache/keys.ts';
import { type ReferredKind, referencesOf } from './references.ts';

/** Marks mirror pods, which a node creates itself: they must not give it access to anything. */
export const MIRROR_ANNOTATION = 'kubernetes.io/config.mirror';

/** Limit for changed pods since the last request of a node; beyond it, the index is dropped. */
const MAX_CHANGED_PODS = 20_000;

export class NodePods {
  /** References of pods, by node and pod. */
  readonly #nodes = new Map<string, Map<string, ReadonlySet<string>>>();
  readonly #nodeOfPod = new Map<string, string>();
  #changed: Map<string, ObjectKey> | undefined;

  constructor(private readonly cache: Cache) {
    cache.table(Pod).listeners.add(({ at }) => this.#recordChange(at));
  }

  #recordChange(at: ObjectKey): void {
    if (!this.#changed) return;
    if (this.#changed.size < MAX_CHANGED_PODS) {
      this.#changed.set(at.key, at);
      return;
    }
    // No node has sent a request for long: the next one rebuilds the index.
    this.#changed = undefined;
    this.#nodes.clear();
    this.#nodeOfPod.clear();
  }

  /** Reports whether a pod of the node refers to the object. */
  needs(node: string, kind: ReferredKind, at: { readonly namespace: string; readonly name: string }): boolean {
    const key = keyOf(kind, at);
    for (const references of this.#referencesOf(node)) if (references.has(key)) return true;
    return false;
  }

  *claims(node: string): Generator<{ readonly namespace: string; readonly name: string }> {
    for (const references of this.#referencesOf(node)) {
      for (const reference of references) {
        const [kind, namespace = '', name = ''] = reference.split('/');
        if (kind === 'persistentvolumeclaims') yield { namespace, name };
      }
    }
  }

  #referencesOf(node: string): Iterable<ReadonlySet<string>> {
    if (!this.#changed) {
      this.#changed = new Map();
      for (const { at } of this.cache.table(Pod).entries('')) this.#update(at);
    } else if (this.#changed.size > 0) {
      for (const at of this.#changed.values()) this.#update(at);
      this.#changed.clear();
    }
    return this.#nodes.get(node)?.values() ?? [];
  }

  #update({ key, namespace, name }: ObjectKey): void {
    const before = this.#nodeOfPod.get(key);
    if (before !== undefined) {
      const pods = this.#nodes.get(before);
      pods?.delete(key);
      if (pods?.size === 0) this.#nodes.delete(before);
      this.#nodeOfPod.delete(key);
    }
    const pod = this.cache.table(Pod).get(namespace, name)?.hub(Pod);
    const node = pod?.spec.nodeName;
    if (!pod || !node) return;
    const isMirror = pod.metadata.annotations?.[MIRROR_ANNOTATION] !== undefined;
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
