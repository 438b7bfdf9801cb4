import { describe, expect, it } from 'vitest';
import { fc, forAll } from '../../../../test/support/property-runs.ts';
import { ApiError, conflict } from '../../../api/errors.ts';
import { ConfigMap } from '../../../kinds/groups/core/configuration/config-map.ts';
import { Secret } from '../../../kinds/groups/core/configuration/secret.ts';
import type { Namespace } from '../../../kinds/groups/core/namespace.ts';
import { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import type { Kind } from '../../../kinds/kind.ts';
import type { Action, Plan } from '../../loop/plan.ts';
import type { Content, NamespaceContent } from './content.ts';
import { planNamespace } from './namespace.ts';

const now = new Date('2030-01-01T00:00:10Z');
const DELETED = '2030-01-01T00:00:00Z';

const doomed = (fields: Partial<Namespace> = {}): Namespace => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name: 'x', uid: 'u', resourceVersion: '5', deletionTimestamp: DELETED },
  spec: { finalizers: ['kubernetes'] },
  status: { phase: 'Terminating' },
  ...fields,
});

interface Thing {
  readonly kind: Kind;
  readonly name: string;
  readonly asked: boolean;
  readonly finalizers: readonly string[];
}

function contentOf(things: readonly Thing[]): NamespaceContent {
  const kinds = [...new Set(things.map(({ kind }) => kind))];
  const contents = kinds.map(
    (kind): Content => ({
      kind,
      resourceVersion: '9',
      objects: things
        .filter((thing) => thing.kind === kind)
        .map(({ name, asked, finalizers }) => ({
          metadata: { name, namespace: 'x', uid: name, finalizers, ...(asked ? { deletionTimestamp: DELETED } : {}) },
        })),
    }),
  );
  return { contents, unlisted: [] };
}

const plan = (namespace: Namespace | undefined, observed: NamespaceContent, failures: Error[] = []): Plan =>
  planNamespace(namespace, { observed, failures: failures.map((error) => ({ error })) }, now);

const text = (actions: Plan) =>
  actions.map((action) => `${action.type}${'kind' in action ? ` ${action.kind.plural}` : ''}`);

const conditionOf = (actions: Plan, type: string) => {
  const status = actions.find((action) => action.type === 'updateStatus') as any;
  return status?.object.status.conditions.find((each: any) => each.type === type);
};

const thing = (kind: Kind, name: string, fields: Partial<Thing> = {}): Thing => ({
  kind,
  name,
  asked: false,
  finalizers: [],
  ...fields,
});

const NoCollections: Kind = { ...Secret, plural: 'singles', kind: 'Single', verbs: ['get', 'list', 'watch', 'delete'] };
const Unwatched: Kind = { ...NoCollections, plural: 'unwatched', verbs: ['get', 'list', 'delete'] };

describe('planNamespace', () => {
  it.each([
    ['gone', undefined],
    ['not being deleted', doomed({ metadata: { name: 'x' } })],
    ['let go of already', doomed({ spec: { finalizers: ['example.com/other'] } })],
  ])('plans nothing for a namespace that is %s', (_, namespace) => {
    expect(plan(namespace, contentOf([thing(ConfigMap, 'a')]))).toEqual([]);
  });

  it('deletes pods before anything else, and plans again when something has changed', () => {
    const content = contentOf([thing(ConfigMap, 'c'), thing(Pod, 'p')]);
    expect(text(plan(doomed(), content))).toEqual(['deleteCollection pods', 'requeueOnChange pods']);
  });

  it('deletes one by one what has no deletecollection', () => {
    const content = contentOf([thing(NoCollections, 'a'), thing(NoCollections, 'b', { asked: true })]);
    const actions = plan(doomed(), content);
    expect(text(actions)).toEqual(['delete singles', 'requeueOnChange singles']);
    expect((actions[0] as Extract<Action, { type: 'delete' }>).object.metadata.name).toBe('a');
  });

  it('looks again at what cannot be watched', () => {
    expect(text(plan(doomed(), contentOf([thing(Unwatched, 'a')])))).toEqual(['delete unwatched', 'requeueAfter']);
    const { contents } = contentOf([thing(Secret, 'a')]);
    const unversioned = contents.map((content) => ({ ...content, resourceVersion: '' }));
    const actions = plan(doomed(), { contents: unversioned, unlisted: [] });
    expect(text(actions)).toEqual(['deleteCollection secrets', 'requeueAfter']);
  });

  it('reports what remains once all deletions were requested', () => {
    const content = contentOf([
      thing(Pod, 'a', { asked: true }),
      thing(Pod, 'b', { asked: true, finalizers: ['z/z', 'a/a'] }),
      thing(Pod, 'c', { asked: true, finalizers: ['z/z'] }),
    ]);
    const actions = plan(doomed(), content);
    expect(text(actions)).toEqual(['updateStatus namespaces', 'requeueOnChange pods']);
    expect(conditionOf(actions, 'NamespaceContentRemaining')).toEqual({
      type: 'NamespaceContentRemaining',
      status: 'True',
      reason: 'SomeResourcesRemain',
      message: 'Some resources are remaining: pods. has 3 resource instances',
      lastTransitionTime: '2030-01-01T00:00:10Z',
    });
    expect(conditionOf(actions, 'NamespaceFinalizersRemaining')).toMatchObject({
      status: 'True',
      reason: 'SomeFinalizersRemain',
      message:
        'Some content in the namespace has finalizers remaining: a/a in 1 resource instances, z/z in 2 resource instances',
    });
  });

  it('reports when kinds cannot be found or listed, and does not finalize', () => {
    const actions = plan(doomed(), { contents: [], unlisted: ['no etcd'], undiscovered: 'no kinds' });
    expect(text(actions)).toEqual(['updateStatus namespaces', 'requeueAfter']);
    expect(conditionOf(actions, 'NamespaceDeletionDiscoveryFailure')).toMatchObject({
      status: 'True',
      reason: 'DiscoveryFailed',
      message: 'no kinds',
    });
    expect(conditionOf(actions, 'NamespaceDeletionContentFailure')).toMatchObject({
      status: 'True',
      reason: 'ContentDeletionFailed',
      message: 'Failed to delete all resource types, 1 remaining: no etcd',
    });
  });

  it('reports failed deletions, but not conflicts', () => {
    const content = contentOf([thing(ConfigMap, 'c')]);
    const failed = plan(doomed(), content, [new ApiError('InternalError', 'b'), new ApiError('InternalError', 'a')]);
    expect(text(failed)).toEqual([
      'updateStatus namespaces',
      'deleteCollection configmaps',
      'requeueOnChange configmaps',
    ]);
    expect(conditionOf(failed, 'NamespaceDeletionContentFailure').message).toBe(
      'Failed to delete all resource types, 2 remaining: a, b',
    );
    const late = plan(doomed(), content, [conflict({ group: '', plural: 'namespaces' }, 'x')]);
    expect(conditionOf(late, 'NamespaceDeletionContentFailure').status).toBe('False');
  });

  it('reports that all is gone, then finalizes, and keeps foreign finalizers', () => {
    const held = doomed({ spec: { finalizers: ['kubernetes', 'example.com/other'] } });
    const first = plan(held, contentOf([]));
    expect(text(first)).toEqual(['updateStatus namespaces']);
    const reported = (first[0] as any).object as Namespace;
    const second = plan(reported, contentOf([]));
    expect(second).toEqual([
      {
        type: 'updateSubresource',
        kind: expect.objectContaining({ kind: 'Namespace' }),
        subresource: 'finalize',
        object: { ...reported, spec: { finalizers: ['example.com/other'] } },
      },
    ]);
  });

  it('moves the time of a condition only with its status', () => {
    const first = plan(doomed(), contentOf([thing(Pod, 'a', { asked: true }), thing(Pod, 'b', { asked: true })]));
    const reported = (first[0] as any).object as Namespace;
    const later = new Date('2030-01-01T01:00:00Z');
    const left = { observed: contentOf([thing(Pod, 'a', { asked: true })]), failures: [] };
    const fewer = planNamespace(reported, left, later);
    expect(conditionOf(fewer, 'NamespaceContentRemaining')).toMatchObject({
      message: 'Some resources are remaining: pods. has 1 resource instances',
      lastTransitionTime: '2030-01-01T00:00:10Z',
    });
    const gone = planNamespace((fewer[0] as any).object, { observed: contentOf([]), failures: [] }, later);
    expect(conditionOf(gone, 'NamespaceContentRemaining')).toMatchObject({
      status: 'False',
      lastTransitionTime: '2030-01-01T01:00:00Z',
    });
  });
});

const someThing: fc.Arbitrary<Thing> = fc.record({
  kind: fc.constantFrom(Pod, ConfigMap, Secret, NoCollections) as fc.Arbitrary<Kind>,
  name: fc.constantFrom('a', 'b', 'c'),
  asked: fc.boolean(),
  finalizers: fc.subarray(['one/x', 'two/x']),
});

describe('whatever is in a namespace', () => {
  const things = fc.uniqueArray(someThing, { selector: ({ kind, name }) => `${kind.plural}/${name}` });

  it('finalizes it only when it is known to be empty, after that was reported', () => {
    const unlisted = fc.subarray(['broken']);
    forAll(things, unlisted, fc.option(fc.constant('unknown'), { nil: undefined }), (all, errors, undiscovered) => {
      const observed = { ...contentOf(all), unlisted: errors, ...(undiscovered ? { undiscovered } : {}) };
      const actions = plan(doomed(), observed);
      const finalized = actions.some(({ type }) => type === 'updateSubresource');
      expect(finalized).toBe(false);
      const again = plan(
        ((actions.find(({ type }) => type === 'updateStatus') as any)?.object ?? doomed()) as Namespace,
        observed,
      );
      const lets = again.some(({ type }) => type === 'updateSubresource');
      expect(lets).toBe(all.length === 0 && errors.length === 0 && !undiscovered);
      // Another object is created every time.
      expect(actions.length).toBeGreaterThan(0);
    });
  });

  it('it ends empty and finalized once finalizers are removed, pods first', () => {
    forAll(things, (all) => {
      let left = [...all];
      let namespace: Namespace | undefined = doomed();
      for (let round = 0; namespace && round < 30; round++) {
        const actions = plan(namespace, contentOf(left));
        const hadPods = left.some(({ kind }) => kind === Pod);
        for (const action of actions) {
          if (action.type === 'updateStatus') namespace = action.object as Namespace;
          if (action.type === 'updateSubresource') namespace = undefined;
          if (action.type !== 'deleteCollection' && action.type !== 'delete') continue;
          if (hadPods) expect(action.kind).toBe(Pod);
          left = left.flatMap((each) => {
            const named = action.type === 'deleteCollection' || action.object.metadata.name === each.name;
            if (each.kind !== action.kind || !named) return [each];
            return each.finalizers.length > 0 ? [{ ...each, asked: true }] : [];
          });
        }
        // Now and then a holder releases one object that is being deleted.
        const held = left.findIndex(({ asked }) => asked);
        if (!actions.some(({ type }) => type === 'delete' || type === 'deleteCollection') && held >= 0)
          left.splice(held, 1);
      }
      expect(namespace).toBeUndefined();
      expect(left).toEqual([]);
    });
  });
});
