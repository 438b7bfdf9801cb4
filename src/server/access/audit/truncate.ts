/** Removes the objects from an event that is too large, and marks it as truncated. */
export function withoutObjects(event: string): string {
  const { requestObject, responseObject, ...rest } = JSON.parse(event);
  if (requestObject === undefined && responseObject === undefined) return event;
  return JSON.stringify({ ...rest, annotations: { ...rest.annotations, 'audit.k8s.io/truncated': 'true' } });
}
