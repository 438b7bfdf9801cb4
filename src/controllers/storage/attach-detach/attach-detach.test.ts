import { describe, expect, it } from 'vitest';
import { PlannerWorld } from '../../../../test/support/planner-world.ts';
import { Node } from '../../../kinds/groups/core/node/node.ts';
import { PersistentVolume } from '../../../kinds/groups/core/persistent-volume/persistent-volume.ts';
import { PersistentVolumeClaim } from '../../../kinds/groups/core/persistent-volume/persistent-volume-claim.ts';
import { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import { CSIDriver } from '../../../kinds/groups/storage/csi-driver.ts';
import { VolumeAttachment } from '../../../kinds/groups/storage/volume-attachment.ts';
import { attachmentName } from '../../../kinds/volumes/attachment.ts';
import { planNode } from './attach-detach.ts';

const NOW = new Date('2030-01-01T01:00:00Z');
const CSI = { driver: 'disk.example.com', volumeHandle: 'd-1' };
const UNIQUE = 'kubernetes.io/csi/disk.example.com^d-1';
const NAME = attachmentName(CSI, 'a');

function world(accessModes = ['ReadWriteOnce']) {
  const w = new PlannerWorld();
  for (const name of ['a', 'b']) node(w, name);
  w.put(PersistentVolume, {
    metadata: { name: 'pv' },
    spec: { csi: CSI, accessModes, claimRef: { namespace: 'x', name: 'mine', uid: 'c' } },
    status: {},
  });
  const metadata = { name: 'mine', namespace: 'x', uid: 'c' };
  w.put(PersistentVolumeClaim, { metadata, spec: { volumeName: 'pv' }, status: { phase: 'Bound' } });
  return w;
}

const node = (w: PlannerWorld, name: string, status: object = {}, spec: object = {}) =>
  w.put(Node, { metadata: { name, uid: `node-${name}` }, spec, status });

const pod = (w: PlannerWorld, nodeName: string, phase = 'Pending') =>
  w.put(Pod, {
    metadata: { name: `on-${nodeName}`, namespace: 'x' },
    spec: { nodeName, volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'mine' } }] },
    status: { phase },
  });

const settle = (w: PlannerWorld, name = 'a') => w.apply(planNode(name, w, NOW));
const attachment = (w: PlannerWorld, name = NAME) => w.of(VolumeAttachment).get(name);
const setAttached = (w: PlannerWorld, name = NAME) =>
  w.put(VolumeAttachment, { ...attachment(w, name), status: { attached: true } });

describe('a volume', () => {
  it('is attached to the node of its pod, once, and the node and the pod are told', () => {
    const w = world();
    pod(w, 'a');
    settle(w);
    expect(attachment(w)).toMatchObject({
      spec: { attacher: 'disk.example.com', nodeName: 'a', source: { persistentVolumeName: 'pv' } },
    });
    expect(planNode('a', w, NOW)).toEqual([]);
    setAttached(w);
    expect(planNode('a', w, NOW)).toMatchObject([
      { type: 'patch', patch: { changes: { status: { volumesAttached: [{ name: UNIQUE, devicePath: '' }] } } } },
      { reason: 'SuccessfulAttachVolume', message: 'AttachVolume.Attach succeeded for volume "pv" ' },
    ]);
    settle(w);
    expect(planNode('a', w, NOW)).toEqual([]);
  });

  it('is not attached for a driver that does not want it, nor for a pod that has ended', () => {
    const w = world();
    pod(w, 'a', 'Succeeded');
    expect(planNode('a', w, NOW)).toEqual([]);
    pod(w, 'a', 'Running');
    w.put(CSIDriver, { metadata: { name: 'disk.example.com' }, spec: { attachRequired: false } });
    expect(planNode('a', w, NOW)).toEqual([]);
  });

  it('that cannot be attached is reported to its pod', () => {
    const w = world();
    pod(w, 'a');
    settle(w);
    w.put(VolumeAttachment, { ...attachment(w), status: { attached: false, attachError: { message: 'no slot' } } });
    expect(planNode('a', w, NOW)).toMatchObject([
      { reason: 'FailedAttachVolume', message: 'AttachVolume.Attach failed for volume "pv" : no slot' },
    ]);
  });

  it('is attached to one node at a time, unless several may have it', () => {
    for (const [modes, reason] of [
      [['ReadWriteOnce'], 'FailedAttachVolume'],
      [['ReadWriteMany'], undefined],
    ] as const) {
      const w = world([...modes]);
      for (const name of ['a', 'b']) pod(w, name);
      settle(w);
      const plan = planNode('b', w, NOW);
      if (reason) expect(plan[0]).toMatchObject({ reason, message: expect.stringContaining('Multi-Attach error') });
      else expect(plan).toMatchObject([{ type: 'create' }]);
    }
  });
});

describe('a volume whose pod is gone', () => {
  function left(status: object = {}, spec: object = {}) {
    const w = world();
    const made = pod(w, 'a');
    settle(w);
    setAttached(w);
    settle(w);
    w.apply([{ type: 'delete', kind: Pod, object: made }]);
    node(w, 'a', { volumesAttached: [{ name: UNIQUE, devicePath: '' }], ...status }, spec);
    return w;
  }
  const ready = (status: string, lastTransitionTime: string) => [{ type: 'Ready', status, lastTransitionTime }];

  it('is detached once the node does not use it any more', () => {
    const w = left({ volumesInUse: [UNIQUE], conditions: ready('True', '2030-01-01T00:00:00Z') });
    expect(planNode('a', w, NOW)).toEqual([]);
    node(w, 'a', {});
    settle(w);
    expect(attachment(w)).toBeUndefined();
    settle(w);
    expect(w.of(Node).get('a').status).toEqual({});
    expect(planNode('a', w, NOW)).toEqual([]);
  });

  it('is detached after a while from a node that is lost, and at once from one out of service', () => {
    const inUse = { volumesInUse: [UNIQUE] };
    const w = left({ ...inUse, conditions: ready('Unknown', '2030-01-01T00:55:00Z') });
    expect(planNode('a', w, NOW)).toEqual([{ type: 'requeueAfter', milliseconds: 60_000 }]);
    expect(planNode('a', w, new Date('2030-01-01T01:01:00Z'))).toMatchObject([{ type: 'delete' }]);
    const taint = { key: 'node.kubernetes.io/out-of-service', effect: 'NoExecute' };
    expect(planNode('a', left(inUse, { taints: [taint] }), NOW)).toMatchObject([{ type: 'delete' }]);
  });

  it('is detached from a node that is gone', () => {
    const w = left({ volumesInUse: [UNIQUE] });
    w.apply([{ type: 'delete', kind: Node, object: w.of(Node).get('a') }]);
    expect(planNode('a', w, NOW)).toMatchObject([{ type: 'delete' }]);
  });
});

it('attachments of others are left alone', () => {
  const w = world();
  for (const name of ['by-hand', attachmentName({ ...CSI, volumeHandle: 'other' }, 'a')]) {
    w.put(VolumeAttachment, {
      metadata: { name },
      spec: { attacher: 'disk.example.com', nodeName: 'a', source: { persistentVolumeName: 'pv' } },
      status: { attached: true },
    });
  }
  expect(planNode('a', w, NOW)).toEqual([]);
});
