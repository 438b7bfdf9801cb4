import { addAll } from '../../base/collections/add-all.ts';
import type { KubeObject } from '../kind.ts';
import { NAMES_PODS, nameWarnings, type PodLike, templateWarnings } from './pod.ts';

type Workload = KubeObject & { readonly spec?: { readonly template?: PodLike } };

/** Warnings about a workload, whose name is part of the names of its pods. */
export function workloadWarnings(object: Workload, old: Workload | undefined): string[] {
  const found = old ? [] : nameWarnings(object, NAMES_PODS);
  addAll(found, changedTemplateWarnings(object, old, object.spec?.template));
  return found;
}

/** Warnings about the pod template of a new object, or of one whose spec has changed. */
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
