import { expect, it } from 'vitest';
import { fc, forAll } from '../../../../test/support/property-runs.ts';
import { ConfigMap } from '../../../kinds/groups/core/configuration/config-map.ts';
import type { Plan } from '../../loop/plan.ts';
import { planCollection, relationsOf } from './garbage-collector.ts';
import { FOREGROUND, type GraphNode, isWaiting, ORPHAN, OwnerGraph } from './owner-graph.ts';

type Policy = 'Orphan' | 'Background' | 'Foreground';

/** A server that has nothing but metadata, and a graph that sees all of it at once. */
class World {
  readonly graph = new OwnerGraph();
  readonly objects = new Map<string, GraphNode>();
  readonly #woken = new Set<string>();
  #version = 0;

  constructor() {
    this.graph.wake = (uid) => void this.#woken.add(uid);
  }

  put(node: Omit<GraphNode, 'kind' | 'resourceVersion' | 'namespace' | 'name'>): void {
    if (node.isDeleted && node.finalizers.length === 0) {
      this.objects.delete(node.uid);
      this.graph.remove(node.uid);
      return;
    }
    const resourceVersion = String(++this.#version);
    const stored = { ...node, kind: ConfigMap, resourceVersion, namespace: 'x', name: node.uid };
    this.objects.set(node.uid, stored);
    this.graph.put(stored);
  }

  own(uid: string, owners: readonly { uid: string; block: boolean }[]): void {
    const references = owners.map((owner) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      name: owner.uid,
      uid: owner.uid,
      blockOwnerDeletion: owner.block,
    }));
    this.put({ uid, owners: references, finalizers: [], isDeleted: false });
  }

  delete(uid: string, policy: Policy): void {
    const node = this.objects.get(uid);
    if (!node) return;
    const others = node.finalizers.filter((each) => each !== ORPHAN && each !== FOREGROUND);
    const mark = { Orphan: [ORPHAN], Foreground: [FOREGROUND], Background: [] }[policy];
    this.put({ ...node, finalizers: [...others, ...mark], isDeleted: true });
  }

  /** Plans for every queued key until the queue is empty, and reports each plan before it is performed. */
  settle(see: (node: GraphNode, plan: Plan) => void = () => {}): void {
    for (let round = 0; this.#woken.size > 0; round++) {
      if (round > 1000) throw new Error('it does not come to an end');
      const [uid] = this.#woken;
      this.#woken.delete(uid as string);
      const node = this.graph.get(uid as string);
      if (!node) continue;
      const owners = node.owners.map((reference) => {
        const owner = this.objects.get(reference.uid);
        const state = owner ? (isWaiting(owner) ? 'waiting' : 'present') : 'absent';
        return { reference, state, isElsewhere: false, isUnwatched: false } as const;
      });
      const plan = planCollection(relationsOf(this.graph, node, owners));
      see(node, plan);
      this.#perform(plan);
    }
  }

  #perform(plan: Plan): void {
    for (const action of plan) {
      if (action.type !== 'delete' && action.type !== 'patch') throw new Error(`unexpected: ${action.type}`);
      const node = this.objects.get(action.object.metadata.uid ?? '');
      if (!node) throw new Error('the plan came too late');
      if (action.type === 'delete') {
        this.delete(node.uid, action.options?.propagationPolicy ?? 'Background');
      } else {
        const { ownerReferences, finalizers } = (action.patch as any).changes.metadata;
        this.put({
          ...node,
          ...(ownerReferences === undefined ? {} : { owners: ownerReferences ?? [] }),
          ...(finalizers === undefined ? {} : { finalizers: finalizers ?? [] }),
        });
      }
    }
  }
}

const COUNT = 8;
const uids = Array.from({ length: COUNT }, (_, index) => `u${index}`);
const uid = fc.constantFrom(...uids);
/** Generates any graph, including cycles. */
const edges = fc.uniqueArray(fc.record({ from: uid, to: uid, block: fc.boolean() }), {
  selector: ({ from, to }) => `${from} ${to}`,
  maxLength: 16,
});
const deletions = fc.array(fc.record({ uid, policy: fc.constantFrom<Policy>('Orphan', 'Background', 'Foreground') }), {
  maxLength: 4,
});

function worldOf(owned: readonly { from: string; to: string; block: boolean }[]): World {
  const world = new World();
  for (const each of uids) world.own(each, []);
  for (const each of uids) {
    const owners = owned.filter(({ to }) => to === each).map(({ from, block }) => ({ uid: from, block }));
    if (owners.length > 0) world.own(each, owners);
  }
  return world;
}

it('collection deletes nothing that has an owner, and terminates', () => {
  forAll({ numRuns: 500 }, edges, deletions, (owned, asked) => {
    const world = worldOf(owned);
    const check = (node: GraphNode, plan: Plan) => {
      for (const action of plan) {
        if (action.type !== 'delete') continue;
        expect(action.object.metadata.uid).toBe(node.uid);
        const kept = node.owners.filter((owner) => world.objects.has(owner.uid));
        expect(kept.every((owner) => isWaiting(world.objects.get(owner.uid) as GraphNode))).toBe(true);
      }
    };
    world.settle(check);
    expect(world.objects.size).toBe(COUNT);
    for (const { uid: each, policy } of asked) world.delete(each, policy);
    world.settle(check);
    for (const node of world.objects.values()) {
      expect(node.isDeleted).toBe(false);
      for (const owner of node.owners) expect(world.objects.has(owner.uid)).toBe(true);
    }
  });
});

it('collection keeps all dependents of what is deleted', () => {
  forAll(edges, uid, (owned, gone) => {
    const world = worldOf(owned);
    world.delete(gone, 'Orphan');
    world.settle();
    expect([...world.objects.keys()]).toEqual(uids.filter((each) => each !== gone));
  });
});
