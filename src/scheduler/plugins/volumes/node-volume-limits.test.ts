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
import type { CSINode, VolumeAttachment } from '../../objects.ts';
import { nodeVolumeLimits } from './node-volume-limits.ts';

const DRIVER = 'disk.example.com';
const TOO_MANY = 'node(s) exceed max volume count';

const csiNode = (name: string, count: number) =>
  ({
    metadata: { name },
    spec: { drivers: [{ name: DRIVER, nodeID: name, allocatable: { count } }] },
  }) as unknown as CSINode;
const using = (...names: string[]) => ({
  spec: { volumes: names.map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } })) },
});

function world(count: number): TestWorld {
  const here = new TestWorld([nodeObject('a')]);
  here.csiNodes.push(csiNode('a', count));
  for (const name of ['one', 'two', 'three']) {
    here.claims.push(boundClaim(name, name));
    here.volumes.push(volumeObject(name, { hostPath: undefined, csi: { driver: DRIVER, volumeHandle: name } }));
  }
  return here;
}

it('counts the volumes of a driver, each once', () => {
  const here = world(2);
  here.place('a', using('one'));
  expect(here.verdicts(nodeVolumeLimits, podOf(using('two')))).toEqual({ a: 'fits' });
  expect(here.verdicts(nodeVolumeLimits, podOf(using('two', 'three')))).toEqual({ a: TOO_MANY });
  expect(here.verdicts(nodeVolumeLimits, podOf(using('one', 'two')))).toEqual({ a: 'fits' });
});

it('counts volumes that are not provisioned yet, and those that are still attached', () => {
  const here = world(1);
  here.classes.push(classObject('slow', { provisioner: DRIVER }));
  here.claims.push(claimObject('new', { storageClassName: 'slow' }));
  expect(here.verdicts(nodeVolumeLimits, podOf(using('new')))).toEqual({ a: 'fits' });
  const source = { persistentVolumeName: 'three' };
  here.attachments.push({ spec: { attacher: DRIVER, nodeName: 'a', source } } as VolumeAttachment);
  expect(here.verdicts(nodeVolumeLimits, podOf(using('new')))).toEqual({ a: TOO_MANY });
});

it('has no limit where the driver reports none', () => {
  const here = world(0);
  here.csiNodes.length = 0;
  expect(here.verdicts(nodeVolumeLimits, podOf(using('one', 'two', 'three')))).toEqual({ a: 'fits' });
  expect(here.isSkipped(nodeVolumeLimits, podOf())).toBe(true);
});

it('is woken by a higher limit', () => {
  const { CSINode } = nodeVolumeLimits.hints!;
  const update = (from: number, to: number) =>
    ({ resource: 'CSINode', type: 'update', object: csiNode('a', to), old: csiNode('a', from) }) as const;
  expect(CSINode!(update(1, 2), podOf(), world(1))).toBe(true);
  expect(CSINode!(update(2, 2), podOf(), world(1))).toBe(false);
});
