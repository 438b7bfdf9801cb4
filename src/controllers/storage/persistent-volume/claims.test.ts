import { describe, expect, it } from 'vitest';
import { isChange, PlannerWorld, eventsIn as said, settle } from '../../../../test/support/planner-world.ts';
import { boundClaim, claimNamed, classNamed, refTo, volumeNamed } from '../../../../test/support/volume-objects.ts';
import { PersistentVolume } from '../../../kinds/groups/core/persistent-volume/persistent-volume.ts';
import { PersistentVolumeClaim } from '../../../kinds/groups/core/persistent-volume/persistent-volume-claim.ts';
import { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import { StorageClass } from '../../../kinds/groups/storage/storage-class.ts';
import type { Claim, Volume } from './bind.ts';
import { planClaim } from './claims.ts';

interface Things {
  readonly volumes?: readonly Volume[];
  readonly classes?: readonly StorageClass[];
  readonly pods?: readonly object[];
}

function worldOf({ volumes = [], classes = [], pods = [] }: Things): PlannerWorld {
  const world = new PlannerWorld();
  for (const volume of volumes) world.put(PersistentVolume, volume);
  for (const each of classes) world.put(StorageClass, each);
  for (const pod of pods) world.put(Pod, pod);
  return world;
}

/** Returns the claim's status and the owner of each volume once nothing is left to do. */
async function outcome(claim: Claim, things: Things = {}) {
  const world = worldOf(things);
  world.put(PersistentVolumeClaim, claim);
  const { name = '', namespace } = claim.metadata;
  const now = () => world.of(PersistentVolumeClaim).get(name, namespace) as Claim;
  await settle(world, () => planClaim(now(), world).filter(isChange));
  const holders = world.of(PersistentVolume).list();
  return {
    events: said(planClaim(claim, worldOf(things))),
    phase: now().status.phase,
    volume: now().spec.volumeName,
    taken: holders.filter(({ spec }: Volume) => spec.claimRef?.uid).map(({ metadata }: Volume) => metadata.name),
    claim: now(),
    volumes: holders as readonly Volume[],
  };
}

const large = (storage: string) => ({ capacity: { storage } });
const modes = (...accessModes: string[]) => ({ accessModes });

describe('a claim that takes any volume', () => {
  const claim = claimNamed('data');

  it('gets the smallest sufficient volume', async () => {
    const volumes = [
      volumeNamed('huge', { spec: large('9Gi') }),
      volumeNamed('right', { spec: large('2Gi') }),
      volumeNamed('tiny', { spec: large('1Mi') }),
    ];
    expect(await outcome(claim, { volumes })).toMatchObject({ phase: 'Bound', volume: 'right', taken: ['right'] });
  });

  it('gets a volume with its access modes, and as few others as possible', async () => {
    const volumes = [
      volumeNamed('many', { spec: modes('ReadWriteOnce', 'ReadOnlyMany') }),
      volumeNamed('one', { spec: { ...modes('ReadWriteOnce'), ...large('5Gi') } }),
      volumeNamed('read', { spec: modes('ReadOnlyMany') }),
    ];
    expect(await outcome(claim, { volumes })).toMatchObject({ volume: 'one' });
  });

  it.each<[string, Volume]>([
    ['is of a class', volumeNamed('v', { spec: { storageClassName: 'fast' } })],
    ['is a device', volumeNamed('v', { spec: { volumeMode: 'Block' } })],
    ['is somebody else’s', volumeNamed('v', { spec: { claimRef: refTo(claimNamed('other')) } })],
    ['is kept for somebody else', volumeNamed('v', { spec: { claimRef: refTo(claimNamed('other'), false) } })],
    ['is not free', volumeNamed('v', { status: { phase: 'Released' } })],
    ['is on its way out', volumeNamed('v', { metadata: { deletionTimestamp: '2030-01-01T00:00:00Z' } })],
    [
      'has other attributes',
      volumeNamed('v', { spec: { csi: { driver: 'd', volumeHandle: 'h' }, volumeAttributesClassName: 'gold' } }),
    ],
  ])('does not get one that %s', async (_, volume) => {
    expect(await outcome(claim, { volumes: [volume] })).toMatchObject({
      phase: 'Pending',
      volume: undefined,
      events: ['FailedBinding: no persistent volumes available for this claim and no storage class is set'],
    });
  });

  it('chooses by labels when it has a selector', async () => {
    const choosy = claimNamed('data', { spec: { selector: { matchLabels: { disk: 'ssd' } } } });
    const volumes = [volumeNamed('a'), volumeNamed('b', { metadata: { labels: { disk: 'ssd' } } })];
    expect(await outcome(choosy, { volumes })).toMatchObject({ volume: 'b' });
  });

  it('prefers the volume that is reserved for it', async () => {
    const volumes = [volumeNamed('a'), volumeNamed('b', { spec: { claimRef: refTo(claim, false), ...large('9Gi') } })];
    const found = await outcome(claim, { volumes });
    expect(found).toMatchObject({ volume: 'b', taken: ['b'] });
    expect(found.volumes[1]?.metadata.annotations).toBeUndefined();
  });

  it('is recorded on both sides', async () => {
    const { claim: now, volumes } = await outcome(claim, { volumes: [volumeNamed('v', { spec: large('2Gi') })] });
    expect(now.metadata.annotations).toEqual({
      'pv.kubernetes.io/bind-completed': 'yes',
      'pv.kubernetes.io/bound-by-controller': 'yes',
    });
    expect(now.status).toEqual({ phase: 'Bound', accessModes: ['ReadWriteOnce'], capacity: { storage: '2Gi' } });
    expect(volumes[0]?.metadata.annotations).toEqual({ 'pv.kubernetes.io/bound-by-controller': 'yes' });
    expect(volumes[0]?.spec.claimRef).toMatchObject(refTo(claim));
  });

  it('is ignored when it is being deleted', async () => {
    const leaving = claimNamed('data', { metadata: { deletionTimestamp: '2030-01-01T00:00:00Z', finalizers: ['a'] } });
    expect(planClaim(leaving, worldOf({ volumes: [volumeNamed('v')] }))).toEqual([]);
  });
});

describe('a claim that names its volume', () => {
  const claim = claimNamed('data', { spec: { volumeName: 'v' } });

  it.each<[string, readonly Volume[], object]>([
    ['waits for it', [], { phase: 'Pending', taken: [], events: [] }],
    ['gets it', [volumeNamed('v')], { phase: 'Bound', taken: ['v'] }],
    [
      'gets it when it is kept for the claim',
      [volumeNamed('v', { spec: { claimRef: refTo(claim, false) } })],
      { phase: 'Bound', taken: ['v'] },
    ],
    [
      'does not get it when it is too small',
      [volumeNamed('v', { spec: large('1Mi') })],
      {
        phase: 'Pending',
        taken: [],
        events: ['VolumeMismatch: Cannot bind to requested volume "v": requested PV is too small'],
      },
    ],
    [
      'does not get it from another',
      [volumeNamed('v', { spec: { claimRef: refTo(claimNamed('other')) } })],
      { phase: 'Pending', events: ['FailedBinding: volume "v" already bound to a different claim.'] },
    ],
  ])('%s', async (_, volumes, expected) => {
    expect(await outcome(claim, { volumes })).toMatchObject(expected);
  });

  it.each<[string, object]>([
    ['storageClassName does not match', { storageClassName: 'fast' }],
    ['incompatible volumeMode', { volumeMode: 'Block' }],
    ['incompatible accessMode', { accessModes: ['ReadOnlyMany'] }],
  ])('reports why not: %s', async (why, spec) => {
    expect((await outcome(claim, { volumes: [volumeNamed('v', { spec })] })).events).toEqual([
      `VolumeMismatch: Cannot bind to requested volume "v": ${why}`,
    ]);
  });
});

describe('a claim that was bound', () => {
  it.each<[string, Claim, readonly Volume[], string[]]>([
    [
      'is lost without its volume',
      boundClaim('data', 'v'),
      [],
      ['ClaimLost: Bound claim has lost its PersistentVolume. Data on the volume is lost!'],
    ],
    [
      'is lost when it forgets its volume',
      boundClaim('data', ''),
      [volumeNamed('v')],
      ['ClaimLost: Bound claim has lost reference to PersistentVolume. Data on the volume is lost!'],
    ],
    [
      'is lost when another has its volume',
      boundClaim('data', 'v'),
      [volumeNamed('v', { spec: { claimRef: refTo(claimNamed('other')) } })],
      ['ClaimMisbound: Two claims are bound to the same volume, this one is bound incorrectly'],
    ],
  ])('%s', async (_, claim, volumes, events) => {
    const found = await outcome(claim, { volumes });
    expect(found).toMatchObject({ phase: 'Lost', events });
    expect(found.claim.status).toEqual({ phase: 'Lost' });
  });

  it('is not lost when only the cache lacks its volume', () => {
    const claim = boundClaim('data', 'v');
    const world = { of: worldOf({}).of, observed: { volume: volumeNamed('v', { spec: { claimRef: refTo(claim) } }) } };
    expect(planClaim(claim, world)).toEqual([]);
  });

  it('rebinds its volume when that has lost its claim', async () => {
    const found = await outcome(boundClaim('data', 'v'), { volumes: [volumeNamed('v')] });
    expect(found).toMatchObject({ phase: 'Bound', taken: ['v'] });
  });

  it('keeps its capacity, whatever its volume says later', async () => {
    const claim = boundClaim('data', 'v');
    const volume = volumeNamed('v', { spec: { claimRef: refTo(claim), ...large('5Gi') } });
    expect(planClaim(claim, worldOf({ volumes: [volume] }))).toEqual([]);
  });
});

describe('a claim that is provisioned', () => {
  const claim = claimNamed('data', { spec: { storageClassName: 'disk' } });
  const asked = { 'volume.kubernetes.io/storage-provisioner': 'example.com/disk' };

  it('requests the provisioner of its class, once', async () => {
    const found = await outcome(claim, { classes: [classNamed('disk')] });
    expect(found.claim.metadata.annotations).toMatchObject(asked);
    expect(found.events).toEqual([
      expect.stringMatching(/^ExternalProvisioning: .*provisioner 'example.com\/disk' or/),
    ]);
    expect(said(planClaim(found.claim, worldOf({ classes: [classNamed('disk')] })))).toEqual([]);
  });

  it.each([
    ['there is no such class', [], 'storageclass.storage.k8s.io "disk" not found'],
    [
      'its class has nobody',
      [classNamed('disk', { provisioner: 'kubernetes.io/no-provisioner' })],
      'no volume plugin matched name: kubernetes.io/no-provisioner',
    ],
  ])('hears when %s', async (_, classes, message) => {
    expect((await outcome(claim, { classes })).events).toEqual([`ProvisioningFailed: ${message}`]);
  });

  describe('for its first consumer', () => {
    const classes = [classNamed('disk', { volumeBindingMode: 'WaitForFirstConsumer' })];
    const pod = (name: string, fields: object = {}) => ({
      metadata: { name, namespace: 'x' },
      spec: { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }], ...fields },
      status: {},
    });

    it.each([
      ['waits', [], 'WaitForFirstConsumer: waiting for first consumer to be created before binding'],
      ['waits for a pod', [pod('a')], 'WaitForPodScheduled: waiting for pod a to be scheduled'],
      ['waits for pods', [pod('a'), pod('b')], 'WaitForPodScheduled: waiting for pods a,b to be scheduled'],
      [
        'waits though a pod has a node',
        [pod('a', { nodeName: 'n' })],
        'WaitForFirstConsumer: waiting for first consumer to be created before binding',
      ],
    ])('%s, and leaves free volumes to the scheduler', async (_, pods, message) => {
      const volumes = [volumeNamed('v', { spec: { storageClassName: 'disk' } })];
      expect(await outcome(claim, { classes, pods, volumes })).toMatchObject({
        phase: 'Pending',
        taken: [],
        events: [message],
      });
    });

    it('is requested when the scheduler has selected a node', async () => {
      const chosen = { annotations: { 'volume.kubernetes.io/selected-node': 'n' } };
      const ready = claimNamed('data', { metadata: chosen, spec: { storageClassName: 'disk' } });
      expect((await outcome(ready, { classes })).claim.metadata.annotations).toMatchObject(asked);
    });

    it('gets the volume that the scheduler chose', async () => {
      const volumes = [volumeNamed('v', { spec: { storageClassName: 'disk', claimRef: refTo(claim) } })];
      expect(await outcome(claim, { classes, volumes })).toMatchObject({ phase: 'Bound', volume: 'v' });
    });
  });
});

describe('a claim without a class', () => {
  const classes = [
    classNamed('old', {
      metadata: { name: 'old', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
    }),
    classNamed('other'),
  ];

  it('gets the default class when that is created later', async () => {
    expect((await outcome(claimNamed('data'), { classes })).claim.spec.storageClassName).toBe('old');
  });

  it('gets a volume without a class before that', async () => {
    expect(await outcome(claimNamed('data'), { classes, volumes: [volumeNamed('v')] })).toMatchObject({ volume: 'v' });
  });

  it('differs from one with an empty class', async () => {
    const none = claimNamed('data', { spec: { storageClassName: '' } });
    expect((await outcome(none, { classes })).claim.spec.storageClassName).toBe('');
  });
});
