/** What a script has asked of a cluster so far, by `namespace/name`. */

export interface Wish {
  readonly namespace: string;
  readonly name: string;
  /** Of its pods. */
  readonly image: string;
}

export interface Sized extends Wish {
  readonly replicas: number;
}

export interface Work extends Wish {
  readonly completions: number;
}

/** A pod that somebody else manages, though its labels would suit one of the sets. */
export interface Bystander {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

export class Wishes {
  readonly namespaces = new Set<string>();
  readonly deployments = new Map<string, Sized>();
  readonly statefulSets = new Map<string, Sized>();
  readonly daemonSets = new Map<string, Wish>();
  readonly jobs = new Map<string, Work>();
  bystanders: readonly Bystander[] = [];

  /** Nothing is wanted of it, or in it, any more. */
  dropNamespace(namespace: string): void {
    this.namespaces.delete(namespace);
    for (const wishes of [this.deployments, this.statefulSets, this.daemonSets, this.jobs]) {
      for (const [key, wish] of wishes) if (wish.namespace === namespace) wishes.delete(key);
    }
  }
}

export const keyOf = ({ namespace, name }: Pick<Wish, 'namespace' | 'name'>) => `${namespace}/${name}`;
