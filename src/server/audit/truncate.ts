/** An event without the objects in it, and with the mark by which readers know it. */
export function withoutObjects(event: string): string {
  const { requestObject, responseObject, ...rest } = JSON.parse(event);
  if (requestObject === undefined && responseObject === undefined) return event;
  return JSON.stringify({ ...rest, annotations: { ...rest.annotations, 'audit.k8s.io/truncated': 'true' } });
}
