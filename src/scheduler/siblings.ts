/** Selects the pods that belong to the same services and controller as a pod. */

import type { DeepReadonly } from '../api/object-types.ts';
import { getOrInsert } from '../base/collections/get-or-insert.ts';
import type { Informer } from '../client/informer/informer.ts';
import type { InformerFactory } from '../client/informer/informer-factory.ts';
import { controllerOf } from '../client/informer/object-cache.ts';
import { ReplicaSet } from '../kinds/groups/apps/replica-set.ts';
import { StatefulSet } from '../kinds/groups/apps/stateful-set.ts';
import { ReplicationController } from '../kinds/groups/core/replication-controller.ts';
import { Service } from '../kinds/groups/core/service/service.ts';
import { fromLabelSelector, fromLabels, type LabelSelector } from '../schema/selector/selector.ts';
import type { PodInfo } from './cluster/pod-info.ts';

type Controller = DeepReadonly<ReplicaSet | StatefulSet | ReplicationController>;

export class Siblings {
  readonly #services = new Map<string, Map<string, LabelSelector>>();
  readonly #replicaSets: Informer<ReplicaSet>;
  readonly #statefulSets: Informer<StatefulSet>;
  readonly #controllers: Informer<ReplicationController>;
  readonly #compiled = new WeakMap<object, LabelSelector>();
  readonly synced: Promise<unknown>;

  constructor(informers: InformerFactory) {
    const services = informers.of(Service);
    this.#replicaSets = informers.of(ReplicaSet);
    this.#statefulSets = informers.of(StatefulSet);
    this.#controllers = informers.of(ReplicationController);
    services.onChange(({ type, object: { metadata, spec } }) => {
      const { name = '', namespace = '' } = metadata;
      const known = this.#services.get(namespace) ?? new Map<string, LabelSelector>();
      const selector = type === 'delete' ? undefined : spec.selector;
      if (selector && Object.keys(selector).length > 0) known.set(name, fromLabels(selector));
      else known.delete(name);
      if (known.size > 0) this.#services.set(namespace, known);
      else this.#services.delete(namespace);
    });
    const all = [services, this.#replicaSets, this.#statefulSets, this.#controllers];
    this.synced = Promise.all(all.map(({ synced }) => synced));
  }

  of(pod: PodInfo): LabelSelector | undefined {
    const found: LabelSelector[] = [];
    const services = this.#services.get(pod.namespace);
    if (services) for (const selector of services.values()) if (selector.matches(pod.labels)) found.push(selector);
    const controller = this.#controllerOf(pod);
    if (controller) found.push(this.#selectorOf(controller));
    return together(found);
  }

  #controllerOf({ pod, namespace }: PodInfo): Controller | undefined {
    const owner = controllerOf(pod);
    if (!owner) return undefined;
    switch (`${owner.apiVersion} ${owner.kind}`) {
      case 'apps/v1 ReplicaSet':
        return this.#replicaSets.lister.get(owner.name, namespace);
      case 'apps/v1 StatefulSet':
        return this.#statefulSets.lister.get(owner.name, namespace);
      case 'v1 ReplicationController':
        return this.#controllers.lister.get(owner.name, namespace);
      default:
        return undefined;
    }
  }

  #selectorOf(controller: Controller): LabelSelector {
    return getOrInsert(this.#compiled, controller, () => {
      const source = controller.spec.selector;
      const isPlain = controller.kind === 'ReplicationController';
      return isPlain ? fromLabels((source ?? {}) as Record<string, string>) : fromLabelSelector(source as object);
    });
  }
}

/** Combines selectors: all of them must match. */
function together(selectors: readonly LabelSelector[]): LabelSelector | undefined {
  const real = selectors.filter(({ empty }) => !empty);
  if (real.length < 2) return real[0];
  return {
    matches: (labels) => real.every((each) => each.matches(labels)),
    text: real.map(({ text }) => text).join('&'),
    empty: false,
  };
}
