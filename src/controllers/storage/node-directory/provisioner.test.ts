/** Claims that come, grow and go, and nodes that do: with the binder, and agents that do their part. */

import { expect, it } from 'vitest';
import { HELD, OURS, World } from '../../../../test/support/directory-world.ts';
import { fc, forAll } from '../../../../test/support/property-runs.ts';
import { claimNamed, classNamed } from '../../../../test/support/volume-objects.ts';
import { Node } from '../../../kinds/groups/core/node/node.ts';
import { PersistentVolume } from '../../../kinds/groups/core/persistent-volume/persistent-volume.ts';
import { PersistentVolumeClaim } from '../../../kinds/groups/core/persistent-volume/persistent-volume-claim.ts';
import { StorageClass } from '../../../kinds/groups/storage/storage-class.ts';
import { isToRemove, nodeDirectory } from '../../../kinds/volumes/node-directory.ts';
import { planKey as planBinding } from '../persistent-volume/binder.ts';

const NAMES = ['a', 'b', 'c'];

type Step =
  | { readonly type: 'plan' | 'delete' | 'create' | 'grow'; readonly name: string }
  | { readonly type: 'volumes' | 'nodeGoes' | 'nodeComes' };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    type: fc.constantFrom('plan' as const, 'delete' as const, 'create' as const, 'grow' as const),
    name: fc.constantFrom(...NAMES),
  }),
  fc.record({ type: fc.constantFrom('volumes' as const, 'nodeGoes' as const, 'nodeComes' as const) }),
);

class Cluster extends World {
  #made = 0;

  constructor() {
    super();
    this.put(StorageClass, classNamed('dir', { provisioner: OURS }));
    this.node('n1');
    this.node('n2');
    for (const name of NAMES) this.create(name);
  }

  claim = (name: string) => this.of(PersistentVolumeClaim).get(name, 'x');
  volumes = () => this.of(PersistentVolume).list();

  create(name: string): void {
    if (this.claim(name)) return;
    const metadata = { uid: `${++this.#made}` };
    this.put(PersistentVolumeClaim, claimNamed(name, { metadata, spec: { storageClassName: 'dir' } }));
  }

  grow(name: string): void {
    const claim = this.claim(name);
    if (claim?.status.phase !== 'Bound') return;
    const storage = `${Number.parseInt(claim.spec.resources.requests.storage, 10) + 1}Gi`;
    this.put(PersistentVolumeClaim, { ...claim, spec: { ...claim.spec, resources: { requests: { storage } } } });
  }

  drop(name: string): void {
    this.delete(PersistentVolumeClaim, { metadata: { name, namespace: 'x' } } as never);
  }

  perform(each: Step): void {
    switch (each.type) {
      case 'plan':
        this.run(`x/${each.name}`);
        break;
      case 'delete':
        this.drop(each.name);
        break;
      case 'create':
        this.create(each.name);
        break;
      case 'grow':
        this.grow(each.name);
        break;
      case 'volumes':
        for (const { metadata } of this.volumes()) this.run(metadata.name);
        break;
      case 'nodeGoes':
        this.delete(Node, { metadata: { name: 'n2' } } as never);
        break;
      case 'nodeComes':
        this.node('n2');
        break;
    }
    this.#clear();
    this.check();
  }

  /** Performs both controllers' plans for the key; returns whether there was anything to do. */
  run(key: string): boolean {
    const [first = '', second] = key.split('/');
    const name = second === undefined ? { namespace: undefined, name: first } : { namespace: first, name: second };
    const binding = planBinding({ key: name, of: this.of });
    this.apply(binding);
    const providing = this.plan(key);
    this.apply(providing);
    return [...binding, ...providing].some(({ type }) => type !== 'event');
  }

  settle(): void {
    for (let round = 0; round < 30; round++) {
      const keys = [...NAMES.map((name) => `x/${name}`), ...this.volumes().map(({ metadata }) => metadata.name)];
      const isBusy = keys.map((key) => this.run(key)).some(Boolean);
      this.#serve();
      this.#clear();
      this.check();
      if (!isBusy) return;
    }
    throw new Error('the plans do not come to an end');
  }

  check(): void {
    const owners = this.volumes().map(({ spec }) => spec.claimRef.uid);
    expect(new Set(owners).size, 'a claim has one volume').toBe(owners.length);
  }

  /** Acts for the agents: removes data and finalizers. */
  #serve(): void {
    for (const volume of this.volumes()) {
      if (!isToRemove(volume) || !this.of(Node).get(nodeDirectory(volume)?.node ?? '')) continue;
      const finalizers = volume.metadata.finalizers.filter((each: string) => each !== HELD);
      this.put(PersistentVolume, { ...volume, metadata: { ...volume.metadata, finalizers } });
    }
  }

  /** Removes deleted objects that have no finalizers left. */
  #clear(): void {
    for (const volume of this.volumes()) {
      const { deletionTimestamp, finalizers = [] } = volume.metadata;
      if (deletionTimestamp && finalizers.length === 0) this.delete(PersistentVolume, volume);
    }
  }
}

it('a claim never has more than one volume, and no volume is left when all claims are gone', () => {
  forAll({ numRuns: 200 }, fc.array(step, { maxLength: 60 }), (steps) => {
    const cluster = new Cluster();
    for (const each of steps) cluster.perform(each);
    cluster.settle();
    for (const name of NAMES) {
      const claim = cluster.claim(name);
      if (claim) expect(claim.status).toMatchObject({ phase: 'Bound', capacity: claim.spec.resources.requests });
      cluster.drop(name);
    }
    cluster.settle();
    expect(cluster.volumes()).toEqual([]);
  });
});
