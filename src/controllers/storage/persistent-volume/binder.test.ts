/** Runs plans for many claims and volumes, from states that others have changed since, and checks invariants. */

import { expect, it } from 'vitest';
import { PlannerWorld } from '../../../../test/support/planner-world.ts';
import { fc, forAll } from '../../../../test/support/property-runs.ts';
import { claimNamed, classNamed, refTo, volumeNamed } from '../../../../test/support/volume-objects.ts';
import { keyOf } from '../../../client/informer/object-cache.ts';
import { PersistentVolume } from '../../../kinds/groups/core/persistent-volume/persistent-volume.ts';
import { PersistentVolumeClaim } from '../../../kinds/groups/core/persistent-volume/persistent-volume-claim.ts';
import { StorageClass } from '../../../kinds/groups/storage/storage-class.ts';
import { isBound } from '../../../kinds/volumes/binding.ts';
import { misfit } from '../../../kinds/volumes/matching.ts';
import type { Plan } from '../../loop/plan.ts';
import type { Claim, Volume } from './bind.ts';
import { planKey } from './binder.ts';

const NAMES = ['a', 'b', 'c', 'd'];
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const size = fc.constantFrom('1Gi', '2Gi', '3Gi');
const classes = fc.constantFrom('', 'now', 'later');
const accessModes = fc.constantFrom(['ReadWriteOnce'], ['ReadOnlyMany'], ['ReadWriteOnce', 'ReadOnlyMany']);

const claim = (name: string) =>
  fc.record({ size, className: classes, accessModes, volumeName: maybe(fc.constantFrom('v0', 'v1')) }).map((wish) =>
    claimNamed(name, {
      spec: {
        accessModes: wish.accessModes,
        storageClassName: wish.className,
        resources: { requests: { storage: wish.size } },
        ...(wish.volumeName ? { volumeName: wish.volumeName } : {}),
      },
    }),
  );

const volume = (name: string) =>
  fc
    .record({
      size,
      className: classes,
      accessModes,
      keptFor: maybe(fc.constantFrom(...NAMES)),
      policy: fc.constantFrom('Retain', 'Delete', 'Recycle'),
    })
    .map((given) =>
      volumeNamed(name, {
        status: { phase: 'Pending' },
        spec: {
          accessModes: given.accessModes,
          storageClassName: given.className,
          capacity: { storage: given.size },
          persistentVolumeReclaimPolicy: given.policy,
          csi: { driver: 'd', volumeHandle: name },
          ...(given.keptFor ? { claimRef: refTo(claimNamed(given.keptFor), false) } : {}),
        },
      }),
    );

/** Makes several plans from one state and performs them one after the other; then an object may be deleted. */
const step = fc.record({
  keys: fc.array(fc.constantFrom('x/a', 'x/b', 'x/c', 'x/d', 'v0', 'v1', 'v2', 'v3'), { minLength: 1, maxLength: 4 }),
  deletes: fc.option(fc.constantFrom('x/a', 'x/b', 'v0', 'v1'), { nil: undefined, freq: 6 }),
});

const story = fc.record({
  claims: fc.tuple(...NAMES.map(claim)),
  volumes: fc.tuple(...['v0', 'v1', 'v2', 'v3'].map(volume)),
  steps: fc.array(step, { maxLength: 25 }),
});

class Cluster extends PlannerWorld {
  claims = (): readonly Claim[] => this.of(PersistentVolumeClaim).list();
  volumes = (): readonly Volume[] => this.of(PersistentVolume).list();

  constructor(claims: readonly Claim[], volumes: readonly Volume[]) {
    super();
    this.put(StorageClass, classNamed('now', { provisioner: 'kubernetes.io/no-provisioner' }));
    const later = { provisioner: 'kubernetes.io/no-provisioner', volumeBindingMode: 'WaitForFirstConsumer' };
    this.put(StorageClass, classNamed('later', later));
    for (const each of claims) this.put(PersistentVolumeClaim, each);
    for (const each of volumes) this.put(PersistentVolume, each);
  }

  planFor(key: string): Plan {
    const [first = '', second] = key.split('/');
    const name = second === undefined ? { namespace: undefined, name: first } : { namespace: first, name: second };
    return planKey({ key: name, of: this.of }).filter(({ type }) => type !== 'event');
  }

  /** A plan from an old state fails where it meets a newer one. */
  perform(plan: Plan): void {
    try {
      this.apply(plan);
    } catch (error) {
      expect(String(error)).toContain('too late');
    }
  }

  remove(key: string): void {
    const [namespace, name] = key.split('/');
    const kind = name === undefined ? PersistentVolume : PersistentVolumeClaim;
    const metadata = name === undefined ? { name: namespace } : { namespace, name };
    this.delete(kind, { metadata } as never);
  }
}

/** Claims that have a volume, and which. */
const pairs = (world: Cluster) =>
  new Map(
    world
      .claims()
      .filter(isBound)
      .map((each) => [each.metadata.uid ?? '', each.spec.volumeName ?? '']),
  );

function checkPairs(world: Cluster, before: ReadonlyMap<string, string>): void {
  const now = pairs(world);
  expect(new Set(now.values()).size, 'no two claims have one volume').toBe(now.size);
  for (const [uid, name] of before) {
    if (now.has(uid)) expect(now.get(uid), 'a claim keeps its volume').toBe(name);
  }
  for (const each of world.claims()) {
    if (!isBound(each)) continue;
    const volume = world.of(PersistentVolume).get(each.spec.volumeName ?? '');
    if (volume) expect(volume.spec.claimRef?.uid, 'a volume keeps its claim').toBe(each.metadata.uid);
  }
}

it('the binder never gives one volume to two claims, never takes one away, and comes to an end', () => {
  forAll({ numRuns: 400 }, story, ({ claims, volumes, steps }) => {
    const world = new Cluster(claims, volumes);
    for (const { keys, deletes } of steps) {
      const before = pairs(world);
      for (const plan of keys.map((key) => world.planFor(key))) world.perform(plan);
      checkPairs(world, before);
      if (deletes) world.remove(deletes);
    }
    settleAll(world);
    checkEnd(world);
  });
});

function settleAll(world: Cluster): void {
  for (let round = 0; round < 30; round++) {
    const keys = [...world.claims().map(keyOf), ...world.volumes().map(keyOf)];
    let isQuiet = true;
    for (const key of keys) {
      const plan = world.planFor(key);
      if (plan.length === 0) continue;
      isQuiet = false;
      world.perform(plan);
    }
    if (isQuiet) return;
  }
  throw new Error('the plans do not come to an end');
}

/** Checks that every claim has a volume if possible, and that the status shows it. */
function checkEnd(world: Cluster): void {
  for (const each of world.claims()) {
    const volume = world.of(PersistentVolume).get(each.spec.volumeName ?? '') as Volume | undefined;
    if (isBound(each)) expect(each.status.phase).toBe(volume ? 'Bound' : 'Lost');
    else expect(each.status.phase).toBe('Pending');
    if (isBound(each) && volume) expect(volume.status.phase).toBe('Bound');
    if (isBound(each) || each.spec.volumeName || each.spec.storageClassName === 'later') continue;
    const missed = world.volumes().filter((free) => free.status.phase === 'Available' && !free.spec.claimRef);
    expect(missed.filter((free) => misfit(free, each) === undefined)).toEqual([]);
  }
}
