import { expect, test } from 'vitest';
import { applyStrategicMergePatch } from '../../../../schema/patch/strategic-merge.ts';
import { Pod } from './pod.ts';

const merged = (spec: object, patch: object): any =>
  (applyStrategicMergePatch(Pod.hub.schema, { spec }, { spec: patch }) as { spec: any }).spec;

test.each([
  ['containers', 'name'],
  ['initContainers', 'name'],
  ['ephemeralContainers', 'name'],
  ['imagePullSecrets', 'name'],
  ['hostAliases', 'ip'],
  ['volumes', 'name'],
  ['schedulingGates', 'name'],
  ['resourceClaims', 'name'],
  ['topologySpreadConstraints', 'topologyKey'],
])('%s are told apart by %s', (list, key) => {
  const kept = { [key]: 'a', x: 1 };
  const spec = merged({ [list]: [kept, { [key]: 'b', x: 1 }] }, { [list]: [{ [key]: 'b', x: 2 }, { [key]: 'c' }] });
  expect(spec[list]).toEqual([kept, { [key]: 'b', x: 2 }, { [key]: 'c' }]);
});

test.each([
  ['env', 'name', 'A', 'B'],
  ['ports', 'containerPort', 1, 2],
  ['volumeMounts', 'mountPath', '/a', '/b'],
  ['volumeDevices', 'devicePath', '/a', '/b'],
])('%s of a container are told apart by %s', (list, key, first, second) => {
  const containers = [{ name: 'main', [list]: [{ [key]: first, x: 1 }] }];
  const patch = { containers: [{ name: 'main', [list]: [{ [key]: second }] }] };
  expect(merged({ containers }, patch).containers[0][list]).toEqual([{ [key]: second }, { [key]: first, x: 1 }]);
});

test.each(['tolerations', 'readinessGates'])('%s are replaced as a whole', (list) => {
  expect(merged({ [list]: [{ key: 'a' }] }, { [list]: [{ key: 'b' }] })[list]).toEqual([{ key: 'b' }]);
});

test('a volume can be given another source', () => {
  const volumes = [{ name: 'v', emptyDir: {} }];
  const patch = { volumes: [{ name: 'v', $retainKeys: ['name', 'hostPath'], hostPath: { path: '/x' } }] };
  expect(merged({ volumes }, patch).volumes).toEqual([{ name: 'v', hostPath: { path: '/x' } }]);
});
