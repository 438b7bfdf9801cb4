/** What follows from the labels of a pod template where an object does not say it itself. */

/** An object without labels takes those of its pods. */
export function labelsFromTemplate(object: any): void {
  const labels = object.spec.template?.metadata.labels;
  if (labels && !object.metadata.labels) object.metadata.labels = { ...labels };
}

/** A default for `spec.selector`: the pods are found by all their labels. */
export function selectorFromTemplate(spec: any): { matchLabels: Record<string, string> } | undefined {
  const labels = spec.template?.metadata.labels;
  return labels && { matchLabels: { ...labels } };
}
