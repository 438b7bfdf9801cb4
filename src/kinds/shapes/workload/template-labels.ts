/** Labels and selectors that default to the labels of a pod template. */
import type { ObjectMeta } from '../meta/object-meta.ts';

export interface WithTemplate {
  readonly template?: { readonly metadata: ObjectMeta };
}

export interface Templated {
  readonly metadata: ObjectMeta;
  readonly spec: WithTemplate;
}

/** An object without labels gets those of its pod template. */
export function labelsFromTemplate(object: Templated): void {
  const labels = object.spec.template?.metadata.labels;
  if (labels && Object.keys(object.metadata.labels ?? {}).length === 0) object.metadata.labels = { ...labels };
}

/** A default for `spec.selector`: all labels of the pod template. */
export function selectorFromTemplate(spec: WithTemplate): { matchLabels: Record<string, string> } | undefined {
  const labels = spec.template?.metadata.labels;
  return labels && { matchLabels: { ...labels } };
}
