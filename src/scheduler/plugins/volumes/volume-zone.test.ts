import { expect, it } from 'vitest';
import {
  boundClaim,
  claimObject,
  classObject,
  nodeObject,
  podOf,
  TestWorld,
  volumeObject,
} from '../../../../test/support/scheduler/test-world.ts';
import { volumeZone } from './volume-zone.ts';

const ZONE = 'topology.kubernetes.io/zone';
const OLD = 'failure-domain.beta.kubernetes.io/zone';
const volumes = [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }];
const pod = podOf({ spec: { volumes } });
const ELSEWHERE = 'node(s) had no available volume zone';

const world = () =>
  new TestWorld([
    nodeObject('a', { labels: { [ZONE]: 'east' } }),
    nodeObject('b', { labels: { [ZONE]: 'west' } }),
    nodeObject('anywhere'),
  ]);

it.each([
  ['a zone', { [ZONE]: 'east' }, { a: 'fits', b: ELSEWHERE, anywhere: 'fits' }],
  ['several zones', { [ZONE]: 'east__west' }, { a: 'fits', b: 'fits', anywhere: 'fits' }],
  ['a zone by the old label', { [OLD]: 'west' }, { a: ELSEWHERE, b: 'fits', anywhere: 'fits' }],
])('goes where a volume with %s is', (_, labels, verdicts) => {
  const here = world();
  here.claims.push(boundClaim('data', 'v'));
  here.volumes.push(volumeObject('v', {}, { labels }));
  expect(here.verdicts(volumeZone, pod)).toEqual(verdicts);
});

it('skips pods whose volumes have no zone, or are not provisioned yet', () => {
  const here = world();
  expect(here.isSkipped(volumeZone, podOf())).toBe(true);
  here.claims.push(claimObject('data', { storageClassName: 'slow' }));
  expect(here.verdicts(volumeZone, pod)).toBe('storageclass.storage.k8s.io "slow" not found');
  here.classes.push(classObject('slow'));
  expect(here.isSkipped(volumeZone, pod)).toBe(true);
});

it('rejects all nodes while the claim or its volume is missing', () => {
  const here = world();
  expect(here.verdicts(volumeZone, pod)).toBe('persistentvolumeclaim "data" not found');
  here.claims.push(boundClaim('data', 'v'));
  expect(here.verdicts(volumeZone, pod)).toBe('persistentvolume "v" not found');
});
