/** Pods for tests of the node's pure functions, with as little in them as a test needs. */
import type { SeenContainer, SeenPod } from '../../../src/node/pod/container-run.ts';

export function seenPod(spec: object = {}, metadata: object = {}): SeenPod {
  return {
    metadata: { name: 'web', namespace: 'shop', uid: 'u-1', ...metadata },
    spec: { containers: [{ name: 'c', image: 'busybox', resources: {} }], ...spec },
    status: {},
  } as unknown as SeenPod;
}

export function seenContainer(parts: object = {}): SeenContainer {
  return { name: 'c', image: 'busybox', resources: {}, ...parts } as unknown as SeenContainer;
}
