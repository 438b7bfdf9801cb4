import { expect, it } from 'vitest';
import type { AnyObject } from '../../api/object-types.ts';
import { explain } from './explain.ts';
import { federatedKinds } from './kinds/federated-kinds.ts';
import { CLUSTER_SELECTOR, DELETE_FROM_MEMBERS, DEPLOYMENT_PREFERENCES, ORPHAN, OVERRIDES } from './names.ts';
import { type MemberState, planObject } from './plan-object.ts';

const kindOf = (name: string) => federatedKinds.find(({ kind }) => kind.kind === name)!;
const member = (name: string, state: Partial<MemberState> = {}): MemberState => ({
  ...{ name, labels: { zone: 'a' }, health: 'ready', object: undefined },
  ...state,
});
const federated = (annotations: Record<string, string>, spec: object = { replicas: 6 }) =>
  ({
    ...{ apiVersion: 'apps/v1', kind: 'Deployment', spec },
    metadata: { name: 'a', namespace: 'x', annotations, finalizers: [DELETE_FROM_MEMBERS, ORPHAN] },
  }) as unknown as AnyObject;
const lines = (object: AnyObject, members: readonly MemberState[], kind = 'Deployment') =>
  explain(object, { kind: kindOf(kind), members }).map(
    ({ cluster, state, desired, actual, ready, overrides, why }) =>
      `${cluster}: ${state}, ${actual}/${desired}, ready ${ready}, overrides ${overrides}: ${why}`,
  );

it('an explanation has the desired and the actual state of each cluster, and the reason', () => {
  const preferences = { clusters: { east: { weight: 2, maxReplicas: 9 }, west: { weight: 1 } } };
  const object = federated({
    [DEPLOYMENT_PREFERENCES]: JSON.stringify(preferences),
    [OVERRIDES]: JSON.stringify({ west: [{ op: 'add', path: '/metadata/labels', value: {} }] }),
  });
  const { actions } = planObject(object, { kind: kindOf('Deployment'), members: [member('east')] });
  const running = { ...(actions[0] as any).object, status: { replicas: 6, readyReplicas: 5 } };
  expect(
    lines(object, [member('east', { object: running }), member('west'), member('lost', { health: 'down' })]),
  ).toEqual([
    'east: in sync, 6/6, ready 5, overrides 0: weight 2, at most 9',
    'west: absent, undefined/0, ready undefined, overrides 1: weight 1',
    'lost: unknown, undefined/0, ready undefined, overrides 0: the cluster does not answer: others have its replicas',
  ]);
});

it('an explanation has the reason why an object is not in a cluster', () => {
  const selector = JSON.stringify([{ key: 'zone', operator: 'In', values: ['a'] }]);
  const override = JSON.stringify({ north: [{ op: 'remove', path: '/data/none' }] });
  const object = federated({ [CLUSTER_SELECTOR]: selector, [OVERRIDES]: override }, {});
  const found = lines(object, [member('east'), member('west', { labels: {} }), member('north')], 'ConfigMap');
  expect(found).toEqual([
    'east: missing, undefined/undefined, ready undefined, overrides 0: every selected cluster has it',
    'west: absent, undefined/undefined, ready undefined, overrides 0: the cluster selector does not select it',
    expect.stringMatching(/^north: failed, .* the overrides for north cannot be applied/),
  ]);
});
