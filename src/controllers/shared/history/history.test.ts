import { expect, it } from 'vitest';
import { PlannerWorld } from '../../../../test/support/planner-world.ts';
import { ControllerRevision } from '../../../kinds/groups/apps/controller-revision.ts';
import { DaemonSet } from '../../../kinds/groups/apps/daemon-set.ts';
import { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import { templateHash } from '../pods/template-hash.ts';
import { forget, type History, history, templateOf } from './history.ts';

const template = (image: string) => ({
  metadata: { labels: { app: 'a' } },
  spec: { containers: [{ name: 'c', image }] },
});
const owner = (image: string, annotations?: object) =>
  ({ metadata: { name: 'k', namespace: 'x', uid: 'k', annotations }, spec: { template: template(image) } }) as any;

class Scene {
  readonly world = new PlannerWorld();

  see(image: string, collisions?: number): History {
    const found = history(owner(image), {
      kind: DaemonSet,
      revisions: this.all as never,
      pods: this.world.of(Pod).list('x') as never,
      world: this.world,
      hashLabel: 'hash',
      markOf: ({ metadata }) => metadata.name ?? '',
      hashOf: (content, _data, taken) => templateHash(content, taken),
      collisions,
    });
    this.world.apply(found.actions);
    return found;
  }

  get all(): any[] {
    return this.world.of(ControllerRevision).controlledBy('k') as any[];
  }

  get numbers(): number[] {
    return this.all.map(({ revision }) => revision).sort();
  }
}

it('the history of a template gets a revision for each new template', () => {
  const scene = new Scene();
  const { present } = scene.see('one');
  expect(scene.all[0]).toMatchObject({
    metadata: {
      name: `k-${present.metadata.labels?.hash}`,
      labels: { app: 'a' },
      ownerReferences: [{ kind: 'DaemonSet', name: 'k', uid: 'k', controller: true }],
    },
    data: { spec: { template: { ...template('one'), $patch: 'replace' } } },
    revision: 1,
  });
  expect(templateOf(present)).toEqual(template('one'));
  expect(scene.see('one').actions).toEqual([]);
  scene.see('two');
  expect(scene.numbers).toEqual([1, 2]);
});

it('the history of a template makes an earlier revision the newest when its template is restored', () => {
  const scene = new Scene();
  const first = scene.see('one').present;
  scene.see('two');
  const again = scene.see('one');
  expect(again.present.metadata.name).toBe(first.metadata.name);
  expect(again.present.revision).toBe(3);
  expect(again.older.map(({ revision }) => revision)).toEqual([2]);
  expect(scene.numbers).toEqual([2, 3]);
});

it('the history of a template uses another name on a collision, and counts it', () => {
  const scene = new Scene();
  const { name } = scene.see('one').present.metadata;
  const other = new Scene();
  other.world.put(ControllerRevision, { metadata: { name, namespace: 'x' }, data: {}, revision: 1 });
  const { present, collisions } = other.see('one');
  expect(collisions).toBe(1);
  expect(present.metadata.name).not.toBe(name);
  expect(other.see('one', 1)).toMatchObject({ actions: [], collisions: 1 });
});

it('the history of a template keeps one of several equal revisions, and relabels their pods', () => {
  const scene = new Scene();
  const { present } = scene.see('one');
  scene.world.put(ControllerRevision, {
    ...scene.all[0],
    metadata: { ...scene.all[0].metadata, name: 'double', uid: 'double' },
    revision: 5,
  });
  const labels = { 'controller-revision-hash': present.metadata.name };
  scene.world.put(Pod, { metadata: { name: 'p', namespace: 'x', labels } });
  scene.world.put(Pod, { metadata: { name: 'q', namespace: 'x', labels: { 'controller-revision-hash': 'old' } } });
  scene.see('one');
  expect(scene.all.map(({ metadata }) => metadata.name)).toEqual(['double']);
  const marks = scene.world
    .of(Pod)
    .list('x')
    .map((pod: any) => pod.metadata.labels['controller-revision-hash']);
  expect(marks).toEqual(['double', 'old']);
  expect(scene.see('one').actions).toEqual([]);
});

it('the history of a template forgets the oldest', () => {
  const scene = new Scene();
  for (const image of ['one', 'two', 'three', 'four']) scene.see(image);
  const { older } = scene.see('four');
  scene.world.apply(forget(older, 2));
  expect(scene.numbers).toEqual([3, 4]);
  expect(forget(older, -1)).toEqual([]);
});
