import { expect, it } from 'vitest';
import { create, update } from '../../../../test/support/kinds/test-object.ts';
import { CSIDriver } from './csi-driver.ts';

const driver = (spec: object) => ({ metadata: { name: 'disks.example.com' }, spec });
const tokens = (...tokenRequests: object[]) => ({ tokenRequests });

it('a CSIDriver has defaults', () => {
  expect(create(CSIDriver, driver({}))).toEqual({
    object: driver({
      attachRequired: true,
      podInfoOnMount: false,
      storageCapacity: false,
      fsGroupPolicy: 'ReadWriteOnceWithFSType',
      volumeLifecycleModes: ['Persistent'],
      requiresRepublish: false,
      seLinuxMount: false,
    }),
    errors: [],
  });
});

it('a CSIDriver drops unsupported fields', () => {
  const { object } = create(CSIDriver, driver({ preventPodSchedulingIfMissing: true }));
  expect(object.spec).not.toHaveProperty('preventPodSchedulingIfMissing');
});

it.each<[string, object, ...string[]]>([
  ['tokens', { ...tokens({ audience: 'a', expirationSeconds: 600 }, {}), serviceAccountTokenInSecrets: true }],
  [
    'one audience twice',
    tokens({ audience: 'a' }, { audience: 'a', expirationSeconds: 1 }),
    'spec.tokenRequests[1].audience: Duplicate value: "a"',
  ],
  [
    'tokens of a moment and of ages',
    tokens({ expirationSeconds: 599 }, { audience: 'a', expirationSeconds: 2 ** 32 + 1 }),
    'spec.tokenRequests[0].expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes',
    'spec.tokenRequests[1].expirationSeconds: Invalid value: 4294967297: may not specify a duration larger than 2^32 seconds',
  ],
  [
    'secrets without tokens',
    { serviceAccountTokenInSecrets: false },
    'spec.serviceAccountTokenInSecrets: Invalid value: false: serviceAccountTokenInSecrets is set but no tokenRequests are specified',
  ],
  [
    'another mode',
    { volumeLifecycleModes: ['Ephemeral', 'Eternal'] },
    'spec.volumeLifecycleModes: Unsupported value: "Eternal": supported values: "Persistent", "Ephemeral"',
  ],
  [
    'another policy',
    { fsGroupPolicy: 'Some' },
    'spec.fsGroupPolicy: Unsupported value: "Some": supported values: "File", "None", "ReadWriteOnceWithFSType"',
  ],
  [
    'questions without end',
    { nodeAllocatableUpdatePeriodSeconds: 9 },
    'spec.nodeAllocatableUpdatePeriodSeconds: Invalid value: 9: must be greater than or equal to 10 seconds',
  ],
])('a CSIDriver with %s is validated', (_what, spec, ...errors) => {
  expect(create(CSIDriver, driver(spec)).errors).toEqual(errors);
});

it('a CSIDriver has immutable attachRequired and lifecycle modes', () => {
  const { object: old } = create(CSIDriver, driver({}));
  expect(update(CSIDriver, old, driver({ podInfoOnMount: true })).errors).toEqual([]);
  const changed = driver({ attachRequired: false, volumeLifecycleModes: ['Ephemeral'] });
  expect(update(CSIDriver, old, changed).errors).toEqual([
    'spec.attachedRequired: Invalid value: false: field is immutable',
    'spec.volumeLifecycleModes: Invalid value: ["Ephemeral"]: field is immutable',
  ]);
});
