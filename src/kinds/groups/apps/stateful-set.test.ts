import { describe, expect, test } from 'vitest';
import { create, received, update } from '../../../../test/support/kinds/test-object.ts';
import type { Kind } from '../../kind.ts';
import { StatefulSet } from './stateful-set.ts';

const kind: Kind<any> = StatefulSet;

const labels = { app: 'db' };
const container = { name: 'c', image: 'i' };
const template = (spec: object = {}, metadata: object = { labels }) => ({
  metadata,
  spec: { containers: [container], ...spec },
});
const set = (spec: object = {}) => ({
  metadata: { name: 'db' },
  spec: { selector: { matchLabels: labels }, template: template(), serviceName: 'db', ...spec },
});
const claim = (name: string, spec: object = {}) => ({
  metadata: { name },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...spec },
});
const errorsOf = (spec: object, apiVersion?: string) =>
  create(kind, set(spec), apiVersion ? { apiVersion } : {}).errors;

describe('defaults', () => {
  test('in the stored version', () => {
    const { object, errors } = create(kind, set());
    expect(errors).toEqual([]);
    expect(object.spec).toMatchObject({
      replicas: 1,
      podManagementPolicy: 'OrderedReady',
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
      revisionHistoryLimit: 10,
      persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
    });
    expect(object.status).toEqual({ replicas: 0, availableReplicas: 0 });
  });

  test('an explicit type gets no rollingUpdate defaults', () => {
    const { updateStrategy } = create(kind, set({ updateStrategy: { type: 'RollingUpdate' } })).object.spec;
    expect(updateStrategy).toEqual({ type: 'RollingUpdate' });
  });

  test('the strategy in apps/v1beta1 is OnDelete, and labels and selector default to those of the template', () => {
    const { object, errors } = create(kind, set({ selector: undefined }), { apiVersion: 'apps/v1beta1' });
    expect(errors).toEqual([]);
    expect(object.metadata.labels).toEqual(labels);
    expect(object.spec).toMatchObject({
      selector: { matchLabels: labels },
      updateStrategy: { type: 'OnDelete' },
      revisionHistoryLimit: 10,
    });
    expect(object.spec.updateStrategy).not.toHaveProperty('rollingUpdate');
  });

  test('apps/v1beta2 has the defaults of apps/v1', () => {
    const sent = set();
    expect(received(kind, sent, 'apps/v1beta2')).toEqual(received(kind, sent));
  });

  test('claim templates get their kind, their version and the defaults of claims', () => {
    const { object } = create(kind, set({ volumeClaimTemplates: [claim('data')] }));
    expect(object.spec.volumeClaimTemplates).toMatchObject([
      {
        kind: 'PersistentVolumeClaim',
        apiVersion: 'v1',
        spec: { volumeMode: 'Filesystem' },
        status: { phase: 'Pending' },
      },
    ]);
  });
});

test.each<[object, string[]]>([
  [{ replicas: -1 }, ['spec.replicas: Invalid value: -1: must be greater than or equal to 0']],
  [{ serviceName: 'A' }, [expect.stringMatching(/^spec.serviceName: Invalid value: "A": a lowercase RFC 1123 label/)]],
  [
    { podManagementPolicy: 'Any' },
    [`spec.podManagementPolicy: Invalid value: "Any": must be 'OrderedReady' or 'Parallel'`],
  ],
  [{ ordinals: { start: -1 } }, ['spec.ordinals.start: Invalid value: -1: must be greater than or equal to 0']],
  [
    { persistentVolumeClaimRetentionPolicy: { whenScaled: 'Burn' } },
    [
      'spec.persistentVolumeClaimRetentionPolicy.whenScaled: Unsupported value: "Burn": supported values: "Retain", "Delete"',
    ],
  ],
  [{ selector: {} }, ['spec.selector: Invalid value: {}: empty selector is invalid for statefulset']],
  [
    { selector: undefined },
    [
      'spec.selector: Required value',
      'spec.template.metadata.labels: Invalid value: {"app":"db"}: `selector` does not match template `labels`',
    ],
  ],
  [
    { updateStrategy: { type: 'Never' } },
    [`spec.updateStrategy: Invalid value: {"type":"Never"}: must be 'RollingUpdate' or 'OnDelete'`],
  ],
  [
    { updateStrategy: { type: 'OnDelete', rollingUpdate: {} } },
    [
      `spec.updateStrategy.rollingUpdate: Invalid value: {"partition":0}: only allowed for updateStrategy 'RollingUpdate'`,
    ],
  ],
  [
    { updateStrategy: { rollingUpdate: { partition: -1, maxUnavailable: '0%' } } },
    [
      'spec.updateStrategy.rollingUpdate.partition: Invalid value: -1: must be greater than or equal to 0',
      'spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: "0%": cannot be 0',
    ],
  ],
  [
    { updateStrategy: { rollingUpdate: { maxUnavailable: '101%' } } },
    ['spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: "101%": must not be greater than 100%'],
  ],
  [
    { template: template({ restartPolicy: 'Never', activeDeadlineSeconds: 1 }) },
    [
      'spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"',
      'spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in StatefulSet is not Supported',
    ],
  ],
  [
    { volumeClaimTemplates: [claim('data', { accessModes: [] })] },
    ['spec.volumeClaimTemplates[0].spec.accessModes: Required value: at least 1 access mode is required'],
  ],
  [
    { volumeClaimTemplates: [claim('')] },
    [
      'spec.template.spec.volumes[0].name: Required value',
      'spec.template.spec.volumes[0].persistentVolumeClaim.claimName: Required value',
    ],
  ],
])('an invalid StatefulSet is rejected: %j', (spec, errors) => {
  expect(errorsOf(spec)).toEqual(errors);
});

describe('the template', () => {
  const mounting = (volumeName: string) => ({
    template: template({ containers: [{ ...container, volumeMounts: [{ name: volumeName, mountPath: '/d' }] }] }),
  });

  test('can mount the volumes of claim templates', () => {
    expect(errorsOf({ ...mounting('data'), volumeClaimTemplates: [claim('data')] })).toEqual([]);
    expect(errorsOf({ ...mounting('other'), volumeClaimTemplates: [claim('data')] })).toEqual([
      'spec.template.spec.containers[0].volumeMounts[0].name: Not found: "other"',
    ]);
  });

  test('can use a claim as a block device', () => {
    const devices = { containers: [{ ...container, volumeDevices: [{ name: 'data', devicePath: '/d' }] }] };
    expect(errorsOf({ template: template(devices), volumeClaimTemplates: [claim('data')] })).toEqual([]);
  });

  test('may set any hostname and subdomain, which are ignored', () => {
    expect(errorsOf({ template: template({ hostname: 'A_b', subdomain: 'C_d' }) })).toEqual([]);
  });
});

describe('a change', () => {
  const old = create(kind, set({ volumeClaimTemplates: [claim('data')] })).object;
  const changed = (spec: object, apiVersion = 'apps/v1') =>
    update(kind, old, set({ volumeClaimTemplates: [claim('data')], ...spec }), { apiVersion }).errors;
  const FORBIDDEN =
    "spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";

  test.each<[object]>([
    [{ replicas: 3, ordinals: { start: 2 }, minReadySeconds: 4, revisionHistoryLimit: -1 }],
    [{ template: template({ terminationGracePeriodSeconds: 1 }), updateStrategy: { type: 'OnDelete' } }],
    [{ persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete' } }],
  ])('of %j is allowed', (spec) => {
    expect(changed(spec)).toEqual([]);
  });

  test.each<[object]>([
    [{ serviceName: 'other' }],
    [{ podManagementPolicy: 'Parallel' }],
    [{ volumeClaimTemplates: [claim('more')] }],
    [{ volumeClaimTemplates: undefined }],
    [{ selector: { matchLabels: { app: 'db', x: 'y' } }, template: template({}, { labels: { app: 'db', x: 'y' } }) }],
  ])('of %j is rejected', (spec) => {
    expect(changed(spec)).toEqual([FORBIDDEN]);
    expect(changed(spec, 'apps/v1beta1')).toEqual([FORBIDDEN]);
  });
});

test('counters are consistent with each other', () => {
  const old = create(kind, set()).object;
  const body = { ...old, status: { replicas: 1, readyReplicas: 2, availableReplicas: 3, collisionCount: -1 } };
  expect(update(kind, old, body, { subresource: 'status' }).errors).toEqual([
    'status.collisionCount: Invalid value: -1: must be greater than or equal to 0',
    'status.readyReplicas: Invalid value: 2: cannot be greater than status.replicas',
    'status.availableReplicas: Invalid value: 3: cannot be greater than status.replicas',
    'status.availableReplicas: Invalid value: 3: cannot be greater than status.readyReplicas',
  ]);
});

test('the name must be usable in pod names', () => {
  expect(kind.name?.('db', false)).toEqual([]);
  expect(kind.name?.('db.example', false)).toEqual(['must not contain dots']);
});
