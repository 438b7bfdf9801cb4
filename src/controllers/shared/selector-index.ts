/** Finds the objects whose selectors match labels, without trying the selectors of all others. */

import type { DeepReadonly, KindRef } from '../../api/object-types.ts';
import type { IndexFunction } from '../../client/informer/object-cache.ts';
import type { KubeObject } from '../../kinds/kind.ts';
import type { LabelSelector } from '../../schema/selector/selector.ts';
import type { Listers } from '../loop/define.ts';

type Labels = Readonly<Record<string, string>>;

/** Returns the objects of a namespace whose selectors match the labels. */
export type FindByLabels<T> = (labels: Labels | undefined, namespace: string, world: Listers) => DeepReadonly<T>[];

/**
 * Indexes objects by one label that their selector requires; those that require none are always tried. `selectorOf`
 * returns undefined for an object that selects nothing. Called once for a kind, at the module's level.
 */
export function selectorIndex<T extends KubeObject>(
  kind: KindRef<T>,
  selectorOf: (object: DeepReadonly<T>) => LabelSelector | undefined,
): FindByLabels<T> {
  /** A selector that cannot be compiled selects nothing here; planning for its object fails, and is reported. */
  const compiled = (object: DeepReadonly<T>) => {
    try {
      return selectorOf(object);
    } catch {
      return undefined;
    }
  };
  const index: IndexFunction<T> = (object) => {
    const selector = compiled(object);
    if (!selector) return NONE;
    const { namespace = '' } = object.metadata as KubeObject['metadata'];
    return [selector.requiredLabel ? keyOf(namespace, ...selector.requiredLabel) : namespace];
  };
  return (labels, namespace, { of }) => {
    const out: DeepReadonly<T>[] = [];
    const add = (key: string) => {
      for (const object of of(kind).by(index, key)) if (compiled(object)?.matches(labels)) out.push(object);
    };
    add(namespace);
    for (const label in labels) add(keyOf(namespace, label, labels[label] as string));
    return out;
  };
}

const NONE: readonly string[] = [];

/** Returns the key of a label value. No namespace has a slash. */
const keyOf = (namespace: string, key: string, value: string) => `${namespace}/${key}=${value}`;
