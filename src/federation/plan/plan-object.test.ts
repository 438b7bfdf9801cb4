import { describe, expect, it } from 'vitest';
import type { AnyObject } from '../../api/object-types.ts';
import { clone } from '../../base/json/tree.ts';
import { federatedKinds } from './kinds/federated-kinds.ts';
import {
  CLUSTER_SELECTOR,
  DELETE_FROM_MEMBERS,
  DEPLOYMENT_PREFERENCES,
  FOREGROUND,
  ORPHAN,
  OVERRIDES,
} from './names.ts';
import { type MemberAction, type MemberState, planObject } from './plan-object.ts';

const kindOf = (name: string) => federatedKinds.find(({ kind }) => kind.kind === name)!;

const KEPT = [DELETE_FROM_MEMBERS, ORPHAN];

const federated = (fields: object = {}, metadata: object = {}): AnyObject => ({
  ...{ apiVersion: 'v1', kind: 'ConfigMap' },
  metadata: { name: 'a', namespace: 'x', uid: 'f', finalizers: KEPT, ...metadata } as AnyObject['metadata'],
  ...fields,
});

const member = (name: string, state: Partial<MemberState> = {}): MemberState => ({
  ...{ name, labels: {}, health: 'ready', object: undefined },
  ...state,
});

/** Performs actions as members would, and returns the members after that. */
function performedOn(members: readonly MemberState[], actions: readonly MemberAction[]): MemberState[] {
  return members.map((each) => {
    const action = actions.find(({ cluster }) => cluster === each.name);
    if (!action) return each;
    if (action.type === 'delete') return { ...each, object: undefined };
    return { ...each, object: clone({ ...action.object, status: {} }) as AnyObject };
  });
}

const plan = (object: AnyObject, members: readonly MemberState[], kind = 'ConfigMap') =>
  planObject(object, { kind: kindOf(kind), members });

const told = (actions: readonly MemberAction[]) => actions.map(({ type, cluster }) => `${type} ${cluster}`);

describe('a federated object', () => {
  it('gets its finalizers before it is created anywhere', () => {
    const { actions, finalizers } = plan(federated({}, { finalizers: ['mine'] }), [member('east')]);
    expect([actions, finalizers]).toEqual([[], ['mine', ...KEPT]]);
  });

  it('is created in every member that answers, and then nothing is left to do', () => {
    const object = federated({ data: { a: '1' } }, { labels: { app: 'web' } });
    const members = [member('east'), member('west'), member('lost', { health: 'down' })];
    const { actions } = plan(object, members);
    expect(told(actions)).toEqual(['create east', 'create west']);
    expect(actions[0]).toMatchObject({ object: { data: { a: '1' }, metadata: { name: 'a', labels: { app: 'web' } } } });
    expect(plan(object, performedOn(members, actions)).actions).toEqual([]);
  });

  it('is put right where somebody has edited it', () => {
    const object = federated({ data: { a: '1' } });
    const members = performedOn(
      [member('east'), member('west')],
      plan(object, [member('east'), member('west')]).actions,
    );
    const edited = clone(members[0]!.object) as AnyObject;
    edited.data.b = '2';
    const { actions } = plan(object, [{ ...members[0]!, object: edited }, members[1]!]);
    expect(actions).toMatchObject([{ type: 'update', cluster: 'east', object: { data: { a: '1' } } }]);
  });

  it('keeps annotations that a member adds, and does not take its own there', () => {
    const object = federated({}, { annotations: { [CLUSTER_SELECTOR]: '', note: 'n' } });
    const [created] = plan(object, [member('east')]).actions as [Extract<MemberAction, { object: AnyObject }>];
    expect(created.object.metadata.annotations).toEqual({
      ...{ note: 'n', 'federation.kubernetes.io/propagated': 'true' },
    });
    const actual = clone(created.object) as AnyObject;
    actual.metadata.annotations!.revision = '3';
    expect(plan(object, [member('east', { object: actual })]).actions).toEqual([]);
  });

  it('is written once to a member that reads it back differently', () => {
    const object = federated({ data: { a: '1' } });
    const [east] = performedOn([member('east')], plan(object, [member('east')]).actions);
    const odd = { ...clone(east!.object!), extra: { x: 1 } } as AnyObject;
    expect(told(plan(object, [{ ...east!, object: odd }]).actions)).toEqual(['update east']);
    expect(plan(object, [{ ...east!, object: odd, isSettled: () => true }]).actions).toEqual([]);
  });

  it('goes where the cluster selector says, and leaves other clusters, unless it was never put there', () => {
    const selector = JSON.stringify([{ key: 'zone', operator: 'In', values: ['a'] }]);
    const object = federated({}, { annotations: { [CLUSTER_SELECTOR]: selector } });
    const [old] = performedOn([member('west')], plan(federated(), [member('west')]).actions);
    const foreign = member('south', { object: federated() });
    const members = [member('east', { labels: { zone: 'a' } }), old!, foreign];
    expect(told(plan(object, members).actions)).toEqual(['delete west', 'create east']);
  });

  it('says what is wrong with its annotations', () => {
    const object = federated({}, { annotations: { [CLUSTER_SELECTOR]: '{' } });
    expect(() => plan(object, [])).toThrow('the cluster selector is not valid JSON');
  });
});

describe('a deleted federated object', () => {
  const deleted = (...finalizers: string[]) => federated({}, { finalizers, deletionTimestamp: '2030-01-01T00:00:00Z' });
  const [east] = performedOn([member('east')], plan(federated(), [member('east')]).actions);

  it('is left in the members when it is orphaned', () => {
    expect(plan(deleted('mine', ...KEPT), [east!])).toEqual({ actions: [], finalizers: ['mine'] });
  });

  it.each([[DELETE_FROM_MEMBERS], [DELETE_FROM_MEMBERS, FOREGROUND]])(
    'goes after it is gone in all members: %s',
    (...own) => {
      const object = deleted('mine', ...own);
      expect(plan(object, [east!])).toMatchObject({ actions: [{ type: 'delete', cluster: 'east' }] });
      expect(plan(object, [{ ...east!, object: undefined }, member('lost', { health: 'down' })])).toEqual({
        actions: [],
      });
      expect(plan(object, [{ ...east!, object: undefined }])).toEqual({ actions: [], finalizers: ['mine'] });
    },
  );
});

describe('replicas', () => {
  const deployment = (replicas: number, preferences?: object) =>
    federated(
      { spec: { replicas, template: {} } },
      { generation: 2, annotations: preferences ? { [DEPLOYMENT_PREFERENCES]: JSON.stringify(preferences) } : {} },
    );
  const replicasOf = (members: readonly MemberState[]) =>
    Object.fromEntries(members.map(({ name, object }) => [name, object?.spec.replicas]));
  const performed = (object: AnyObject, members: MemberState[]) =>
    performedOn(members, plan(object, members, 'Deployment').actions);

  it('are divided by the preferences; a cluster without any does not get the object', () => {
    const object = deployment(9, { clusters: { east: { weight: 2 }, west: { weight: 1 } } });
    const members = performed(object, [member('east'), member('west'), member('south')]);
    expect(replicasOf(members)).toEqual({ east: 6, west: 3, south: undefined });
  });

  it('of a cluster that is down are taken over by others, those in it stay, and they go back when it returns', () => {
    const object = deployment(30);
    const all = performed(object, [member('east'), member('west'), member('south')]);
    expect(replicasOf(all)).toEqual({ east: 10, west: 10, south: 10 });
    const away = performed(object, [{ ...all[0]!, health: 'away' }, all[1]!, all[2]!]);
    expect(replicasOf(away)).toEqual({ east: 10, west: 10, south: 10 });
    const down = performed(object, [{ ...all[0]!, health: 'down' }, all[1]!, all[2]!]);
    expect(replicasOf(down)).toEqual({ east: 10, west: 15, south: 15 });
    const back = performed(object, [{ ...down[0]!, health: 'ready' }, down[1]!, down[2]!]);
    expect(replicasOf(back)).toEqual({ east: 10, west: 10, south: 10 });
  });

  it('are not divided before every cluster is known', () => {
    const members = [member('east'), member('west', { health: 'unknown' })];
    expect(plan(deployment(4), members, 'Deployment').actions).toEqual([]);
    expect(told(plan(federated(), members).actions)).toEqual(['create east']);
  });

  it('that an autoscaler sets are left to it', () => {
    const [east] = performed(deployment(4), [member('east')]);
    const scaled = clone(east!) as any;
    scaled.object.spec.replicas = 7;
    const options = { kind: kindOf('Deployment'), members: [scaled] };
    expect(planObject(deployment(4), { ...options, isAutoscaled: true }).actions).toEqual([]);
    expect(told(planObject(deployment(4), options).actions)).toEqual(['update east']);
  });

  it('are counted in the status', () => {
    const counted = (name: string, status: object) =>
      member(name, { object: { ...performed(deployment(4), [member(name)])[0]!.object!, status } as AnyObject });
    const members = [counted('east', { replicas: 2, readyReplicas: 1 }), counted('west', { replicas: 2 })];
    expect(plan(deployment(4), members, 'Deployment').status).toEqual({
      ...{ replicas: 4, readyReplicas: 1, observedGeneration: 2 },
    });
  });
});

describe('what each cluster decides by itself', () => {
  it('a service has the addresses and node ports of its cluster', () => {
    const ports = [{ port: 80, protocol: 'TCP', nodePort: 30_001 }];
    const object = federated({ spec: { clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1'], ports } });
    const [created] = plan(object, [member('east')], 'Service').actions as any[];
    expect(created.object.spec).toEqual({ ports: [{ port: 80, protocol: 'TCP' }] });
    const actual = clone(created.object);
    actual.spec = { clusterIP: '10.9.0.7', clusterIPs: ['10.9.0.7'], ports: [{ ...ports[0], nodePort: 31_000 }] };
    actual.status = { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } };
    const next = plan(object, [member('east', { object: actual })], 'Service');
    expect(next).toEqual({ actions: [], status: { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } } });
  });

  it('a job has the selector of its cluster, and a part of the completions', () => {
    const template = { metadata: { labels: { 'controller-uid': 'f', app: 'a' } } };
    const selector = { matchLabels: { 'controller-uid': 'f' } };
    const object = federated({ spec: { parallelism: 4, completions: 10, selector, template } });
    const { actions } = plan(object, [member('east'), member('west')], 'Job');
    const specs = actions.map((action) => (action as any).object.spec);
    expect(specs).toEqual(
      [0, 1].map(() => ({ parallelism: 2, completions: 5, template: { metadata: { labels: { app: 'a' } } } })),
    );
  });

  it('the parts of a job add up to the whole, and a cluster that joins later gets none', () => {
    const object = federated({ spec: { parallelism: 5, completions: 11, template: {} } });
    const members = performedOn(
      ['a', 'b', 'c'].map((name) => member(name)),
      jobPlan(object, ['a', 'b', 'c']).actions,
    );
    const completions = members.map((each) => each.object!.spec.completions as number);
    expect(completions.reduce((sum, each) => sum + each, 0)).toBe(11);
    expect(plan(object, [...members, member('d')], 'Job').actions).toEqual([]);
    const half = [members[0]!, members[1]!, member('c')];
    expect(told(plan(object, half, 'Job').actions)).toEqual(['create c']);
  });

  it('a job is complete when all of its parts are, failed when one of them is, and never counts backwards', () => {
    const object = federated({ spec: { parallelism: 2, completions: 2, template: {} } });
    const created = performedOn([member('a'), member('b')], jobPlan(object, ['a', 'b']).actions);
    const condition = (type: string) => ({ type, status: 'True', lastTransitionTime: '2030-01-01T00:00:09Z' });
    const finished = (...types: string[]) => ({
      ...{ succeeded: 1, startTime: '2030-01-01T00:00:01Z', conditions: types.map(condition) },
      ...(types.includes('Complete') ? { completionTime: '2030-01-01T00:00:09Z' } : {}),
    });
    const statusOf = (a: object, b: object, old = object) =>
      plan(
        old,
        [a, b].map((status, index) => ({
          ...created[index]!,
          object: { ...created[index]!.object!, status } as AnyObject,
        })),
        'Job',
      ).status as any;
    const complete = finished('SuccessCriteriaMet', 'Complete');
    expect(statusOf(complete, { active: 1, startTime: '2030-01-01T00:00:00Z' })).toEqual({
      ...{ active: 1, succeeded: 1, startTime: '2030-01-01T00:00:00Z' },
    });
    expect(statusOf(complete, complete)).toMatchObject({
      ...{ succeeded: 2, completionTime: '2030-01-01T00:00:09Z' },
      conditions: [{ type: 'SuccessCriteriaMet' }, { type: 'Complete', status: 'True' }],
    });
    expect(statusOf(complete, finished('FailureTarget', 'Failed')).conditions).toMatchObject([
      ...[{ type: 'FailureTarget' }, { type: 'Failed' }],
    ]);
    expect(statusOf(complete, {}, { ...object, status: { succeeded: 2 } } as AnyObject)).toMatchObject({
      succeeded: 2,
    });
  });

  it('the autoscalers of all clusters keep within the bounds of the federated one', () => {
    const object = federated({
      spec: { minReplicas: 4, maxReplicas: 10, scaleTargetRef: { kind: 'Deployment', name: 'a' } },
    });
    const members = performedOn(
      ['a', 'b', 'c'].map((name) => member(name)),
      plan(object, [member('a'), member('b'), member('c')], 'HorizontalPodAutoscaler').actions,
    );
    const sum = (field: string) => members.reduce((total, { object: each }) => total + each!.spec[field], 0);
    expect([sum('minReplicas'), sum('maxReplicas')]).toEqual([4, 10]);
    const smaller = { ...object, spec: { ...object.spec, minReplicas: 1, maxReplicas: 2 } } as AnyObject;
    const left = performedOn(members, plan(smaller, members, 'HorizontalPodAutoscaler').actions);
    expect(left.flatMap(({ object: each }) => (each ? [each.spec.maxReplicas] : []))).toEqual([1, 1]);
  });
});

const jobPlan = (object: AnyObject, names: readonly string[]) =>
  plan(
    object,
    names.map((name) => member(name)),
    'Job',
  );

describe('what makes no sense in one member', () => {
  const replicas = (count: unknown) => federated({ spec: { replicas: count } });

  it('as its replicas does not change those of the others', () => {
    const annotations = { [DEPLOYMENT_PREFERENCES]: JSON.stringify({ clusters: { '*': { weight: 1 } } }) };
    const object = federated({ spec: { replicas: 4 } }, { annotations });
    const members = [member('east', { object: replicas('nonsense') }), member('west', { object: replicas(1) })];
    const { actions } = plan(object, members, 'Deployment');
    expect(actions.map((action) => 'object' in action && action.object.spec.replicas)).toEqual([2, 2]);
  });

  it('as its status is an error, and the object is propagated', () => {
    const work = { parallelism: 2, completions: 2 };
    const status = { conditions: [null] };
    const part = federated({ spec: work, status });
    const { actions, errors } = plan(
      ...([federated({ spec: work }), [member('east', { object: part }), member('west')]] as const),
      'Job',
    );
    expect(told(actions)).toContain('update east');
    expect(errors).toEqual([expect.stringMatching(/^the status of the members cannot be gathered/)]);
  });
});

const withOverrides = (value: object) =>
  federated({ data: { a: '1' } }, { annotations: { [OVERRIDES]: JSON.stringify(value) } });

it('overrides change the object in their cluster alone, and then nothing is left to do', () => {
  const object = withOverrides({ east: [{ op: 'replace', path: '/data/a', value: '2' }] });
  const members = performedOn([member('east'), member('west')], plan(object, [member('east'), member('west')]).actions);
  expect(members.map(({ object: each }) => each?.data.a)).toEqual(['2', '1']);
  expect(members[0]!.object!.metadata.annotations).not.toHaveProperty(OVERRIDES);
  expect(plan(object, members)).toEqual({ actions: [] });
});

it('overrides that cannot be applied are an error of their cluster; the others get the object', () => {
  const object = withOverrides({ east: [{ op: 'remove', path: '/data/none' }] });
  const { actions, errors } = plan(object, [member('east'), member('west')]);
  expect(told(actions)).toEqual(['create west']);
  expect(errors).toEqual([expect.stringMatching(/^cluster east: .* cannot be applied/)]);
});
