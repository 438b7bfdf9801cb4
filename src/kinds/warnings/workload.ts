import type { KubeObject } from '../kind.ts';
import { NAMES_PODS, nameWarnings, type PodLike, templateWarnings } from './pod.ts';

type Workload = KubeObject & { readonly spec?: { readonly template?: PodLike } };

/** Of a kind that names its pods after itself. */
export function workloadWarnings(object: Workload, old: Workload | undefined): string[] {
  const found = old ? [] : nameWarnings(object, NAMES_PODS);
  found.push(...changedTemplateWarnings(object, old, object.spec?.template));
  return found;
}

/** A template that stands in a new object, or in one whose wishes have changed. */
export function changedTemplateWarnings(
  object: KubeObject,
  old: KubeObject | undefined,
  template: PodLike | undefined,
  path = 'spec.template',
): string[] {
  return hasChanged(object, old) ? templateWarnings(template, path) : [];
}

export function hasChanged(object: KubeObject, old: KubeObject | undefined): boolean {
  return object.metadata.generation !== old?.metadata.generation;
}
