import { expect, it } from 'vitest';
import type { SeenPod } from '../pod/container-run.ts';
import { userNamespaceOf } from './user-namespace-of.ts';

const ABLE = { hasUserNamespaces: true };

function pod(spec: object = {}, container: object = {}): SeenPod {
  return { spec: { containers: [{ name: 'c', image: 'i', ...container }], ...spec } } as unknown as SeenPod;
}

it.each([
  ['a plain pod', pod()],
  ['one that asks for it', pod({ hostUsers: false })],
  [
    'one with volumes of its own',
    pod({
      volumes: [
        { name: 's', secret: { secretName: 's' } },
        { name: 'e', emptyDir: {} },
      ],
    }),
  ],
  ['one that runs as a usual user', pod({ securityContext: { runAsUser: 65_535, fsGroup: 0 } })],
])('%s has one', (_, subject) => {
  expect(userNamespaceOf(subject, ABLE)).toBe('mapped-owners');
  expect(userNamespaceOf(subject, { hasUserNamespaces: false })).toBe('none');
});

it.each([
  ['that asks for host users', pod({ hostUsers: true })],
  ['on the network of the node', pod({ hostNetwork: true })],
  ['with the processes of the node', pod({ hostPID: true })],
  ['that is privileged', pod({}, { securityContext: { privileged: true } })],
  ['with a privileged init container', pod({ initContainers: [{ securityContext: { privileged: true } }] })],
  ['with an id that the namespace does not have', pod({}, { securityContext: { runAsUser: 100_000 } })],
  ['with a path of the node', pod({ volumes: [{ name: 'h', hostPath: { path: '/x' } }] })],
  ['with a persistent volume', pod({ volumes: [{ name: 'p', persistentVolumeClaim: { claimName: 'p' } }] })],
])('one %s has none', (_, subject) => {
  expect(userNamespaceOf(subject, ABLE)).toBe('none');
});
