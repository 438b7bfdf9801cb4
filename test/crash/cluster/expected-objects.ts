/** The objects that a script has created in a cluster so far and that must exist there, by `namespace/name`. */

export interface ExpectedObject {
  readonly namespace: string;
  readonly name: string;
  /** Image of its pods. */
  readonly image: string;
}

export interface Sized extends ExpectedObject {
  readonly replicas: number;
}

export interface Work extends ExpectedObject {
  readonly completions: number;
}

/** Pod that another controller manages, though its labels would suit one of the sets. */
export interface Bystander {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

export class ExpectedObjects {
  readonly namespaces = new Set<string>();
  readonly deployments = new Map<string, Sized>();
  readonly statefulSets = new Map<string, Sized>();
  readonly daemonSets = new Map<string, ExpectedObject>();
  readonly jobs = new Map<string, Work>();
  bystanders: readonly Bystander[] = [];

  /** Forgets a deleted namespace with everything in it. */
  dropNamespace(namespace: string): void {
    this.namespaces.delete(namespace);
    for (const expected of [this.deployments, this.statefulSets, this.daemonSets, this.jobs]) {
      for (const [key, wanted] of expected) if (wanted.namespace === namespace) expected.delete(key);
    }
  }
}

export const keyOf = ({ namespace, name }: Pick<ExpectedObject, 'namespace' | 'name'>) => `${namespace}/${name}`;
