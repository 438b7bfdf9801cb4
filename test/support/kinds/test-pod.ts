/** Returns the errors of a pod that differs from a good one in a few fields, for tests of the shapes of a pod. */
import { Pod } from '../../../src/kinds/groups/core/pod/pod.ts';
import { create } from './test-object.ts';

export const container = { name: 'main', image: 'busybox:1.36' };

/** Complaints about a pod with these fields in its spec. */
export function specErrors(spec: object, metadata: object = {}): readonly string[] {
  return create(Pod, {
    metadata: { name: 'a', namespace: 'ns', ...metadata },
    spec: { containers: [container], ...spec },
  }).errors;
}

/** Complaints about a pod whose container has these fields, from the container. */
export function containerErrors(fields: object, spec: object = {}): readonly string[] {
  const errors = specErrors({ containers: [{ ...container, ...fields }], ...spec });
  return errors.map((error) => error.replace(/^spec\.containers\[0\]\.?/, ''));
}

/** Complaints about a pod with this volume, from the volume. */
export function volumeErrors(source: object, spec: object = {}): readonly string[] {
  const errors = specErrors({ volumes: [{ name: 'v', ...source }], serviceAccountName: 'x', ...spec });
  return errors.map((error) => error.replace(/^spec\.volumes\[0\]\.?/, ''));
}
