/** Claims, volumes and classes for tests of plans, as a server would store them. */

import type { Claim, Volume } from '../../src/controllers/storage/persistent-volume/bind.ts';
import { PersistentVolume } from '../../src/kinds/groups/core/persistent-volume/persistent-volume.ts';
import { PersistentVolumeClaim } from '../../src/kinds/groups/core/persistent-volume/persistent-volume-claim.ts';
import { StorageClass } from '../../src/kinds/groups/storage/storage-class.ts';
import { create } from './kinds/test-object.ts';

interface Parts {
  readonly metadata?: object;
  readonly spec?: object;
  readonly status?: object;
}

function made(kind: typeof PersistentVolume | typeof PersistentVolumeClaim, input: object, status: object): any {
  const { object, errors } = create(kind, input);
  if (errors.length > 0) throw new Error(errors.join('; '));
  return { ...object, status: { ...object.status, ...status } };
}

export function claimNamed(name: string, { metadata, spec, status = {} }: Parts = {}): Claim {
  const usual = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
  const identity = { name, namespace: 'x', uid: `uid-of-${name}`, resourceVersion: '1', ...metadata };
  return made(PersistentVolumeClaim, { metadata: identity, spec: { ...usual, ...spec } }, status);
}

/** Returns a volume, which is available unless its status differs. */
export function volumeNamed(name: string, { metadata, spec, status = { phase: 'Available' } }: Parts = {}): Volume {
  const source = { nfs: { server: 's', path: '/p' } };
  const usual = { accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' }, ...source };
  const identity = { name, uid: `uid-of-${name}`, resourceVersion: '1', ...metadata };
  const { nfs: _, ...withoutSource } = usual;
  const hasSource = Object.keys(spec ?? {}).some((field) => ['hostPath', 'local', 'csi', 'nfs'].includes(field));
  return made(
    PersistentVolume,
    { metadata: identity, spec: { ...(hasSource ? withoutSource : usual), ...spec } },
    status,
  );
}

export function classNamed(name: string, fields: object = {}): StorageClass {
  const { object } = create(StorageClass, { metadata: { name }, provisioner: 'example.com/disk', ...fields });
  return object;
}

/** A reference to the claim, as a volume has it. */
export const refTo = ({ metadata: { name, namespace, uid } }: Claim, isComplete = true) => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  name,
  namespace,
  ...(isComplete ? { uid } : {}),
});

/** A claim that has its volume. */
export const boundClaim = (name: string, volumeName: string, { spec, ...rest }: Parts = {}): Claim =>
  claimNamed(name, {
    metadata: { annotations: { 'pv.kubernetes.io/bind-completed': 'yes' } },
    spec: { volumeName, ...spec },
    status: { phase: 'Bound', accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' } },
    ...rest,
  });
