/** A federation in this process: real servers and controllers, without nodes. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ApiError, isApiError } from '../../src/api/errors.ts';
import type { Client } from '../../src/client/client.ts';
import { allKinds } from '../../src/kinds/all.ts';
import { Deployment } from '../../src/kinds/groups/apps/deployment.ts';
import { StatefulSet } from '../../src/kinds/groups/apps/stateful-set.ts';
import { Job } from '../../src/kinds/groups/batch/job.ts';
import { ConfigMap } from '../../src/kinds/groups/core/configuration/config-map.ts';
import { Event } from '../../src/kinds/groups/core/event/event.ts';
import { Namespace } from '../../src/kinds/groups/core/namespace.ts';
import { Service } from '../../src/kinds/groups/core/service/service.ts';
import { Cluster } from '../../src/kinds/groups/federation/cluster.ts';
import { FederatedType } from '../../src/kinds/groups/federation/federated-type.ts';
import { defineKind, type Kind } from '../../src/kinds/kind.ts';
import { s } from '../../src/schema/builders.ts';
import { startFederation, type TestFederation } from '../support/federation/federation.ts';

/** A kind that the members have, and the federation does not know. */
const Boat = defineKind({
  ...{ group: 'example.com', kind: 'Boat', plural: 'boats', scope: 'Namespaced', description: 'A boat.' },
  versions: { 'example.com/v1': {} },
  fields: {
    spec: s.object('BoatSpec', { berths: s.int32(), colour: s.string() }),
    status: s.object('BoatStatus', { sailors: s.int32(), weather: s.string() }),
  },
  subresources: { status: true },
  generation: true,
}) as Kind<any>;

let federation: TestFederation;
let east: Client;
let west: Client;
let id = 0;
/** Name of the objects of a test. */
let name = '';

beforeAll(async () => {
  federation = await startFederation(['east', 'west'], { extraKinds: [Boat] });
  [east, west] = ['east', 'west'].map((each) => federation.members.get(each)!.client) as [Client, Client];
});
afterAll(() => federation.stop());
beforeEach(() => {
  name = `a${id++}`;
});

/** Returns the object; undefined when it does not exist. */
const found = <T>(read: Promise<T>): Promise<T | undefined> =>
  read.catch((error: unknown) => {
    if (isApiError(error, 'NotFound')) return undefined;
    throw error;
  });
const mapIn = (client: Client) => found(client.of(ConfigMap).in('x').get(name));
const create = (data: Record<string, string>, annotations: Record<string, string> = {}) =>
  federation.client
    .of(ConfigMap)
    .in('x')
    .create({ metadata: { name, namespace: 'x', annotations }, data });
const inBoth = () => federation.eventually(async () => Boolean((await mapIn(east)) && (await mapIn(west))));

const deployment = (replicas: number, annotations: Record<string, string> = {}) => ({
  metadata: { name, namespace: 'x', annotations },
  spec: {
    replicas,
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'a', image: 'a' }] } },
  },
});
const replicasIn = async (client: Client) => (await found(client.of(Deployment).in('x').get(name)))?.spec.replicas;
const replicas = () => Promise.all([east, west].map(replicasIn));

it('clusters that answer are ready', async () => {
  await federation.eventually(async () =>
    (await federation.client.of(Cluster).list()).items.every(({ status }) =>
      status.conditions?.some(({ type, status: holds }) => type === 'Ready' && holds === 'True'),
    ),
  );
  expect((await federation.client.of(Cluster).list()).items).toHaveLength(2);
});

it('an object reaches all members, follows changes, and an edit in a member is put right', async () => {
  await create({ a: '1' });
  await inBoth();
  await east
    .of(ConfigMap)
    .in('x')
    .patch(name, { type: 'merge', changes: { data: { b: '2' } } });
  await federation.eventually(async () => (await mapIn(east))?.data?.b === undefined);
  await federation.client
    .of(ConfigMap)
    .in('x')
    .patch(name, { type: 'merge', changes: { data: { a: '3' } } });
  await federation.eventually(async () => (await mapIn(east))?.data?.a === '3' && (await mapIn(west))?.data?.a === '3');
  await west.of(ConfigMap).in('x').delete(name);
  await inBoth();
});

it('a cascading delete removes it from the members, a delete without options leaves it', async () => {
  await create({ a: '1' });
  await inBoth();
  await federation.client.of(ConfigMap).in('x').delete(name, { propagationPolicy: 'Background' });
  await federation.eventually(async () => !(await mapIn(federation.client)));
  expect(await Promise.all([mapIn(east), mapIn(west)])).toEqual([undefined, undefined]);
  await create({ a: '1' });
  await inBoth();
  await federation.client.of(ConfigMap).in('x').delete(name);
  await federation.eventually(async () => !(await mapIn(federation.client)));
  expect((await mapIn(east))?.data).toEqual({ a: '1' });
});

it('replicas are divided by weight, and the status counts those of all members', async () => {
  const preferences = { rebalance: true, clusters: { east: { weight: 2 }, west: { weight: 1 } } };
  const annotations = { 'federation.kubernetes.io/deployment-preferences': JSON.stringify(preferences) };
  await federation.client.of(Deployment).create(deployment(9, annotations));
  await federation.eventually(async () => (await replicas()).join() === '6,3');
  for (const [client, ready] of [
    [east, 5],
    [west, 3],
  ] as const) {
    const status = { replicas: ready, readyReplicas: ready };
    await client.of(Deployment).in('x').patchStatus(name, { type: 'merge', changes: { status } });
  }
  await federation.eventually(
    async () => (await federation.client.of(Deployment).in('x').get(name)).status?.readyReplicas === 8,
  );
  await federation.client.of(Deployment).in('x').setScale(name, 3);
  await federation.eventually(async () => (await replicas()).join() === '2,1');
});

it('a member that is down keeps what it has, blocks nobody, and is brought up to date when it returns', async () => {
  await federation.client.of(Deployment).create(deployment(10));
  await federation.eventually(async () => (await replicas()).join() === '5,5');
  federation.members.get('west')!.cut(true);
  await federation.eventually(async () => (await replicasIn(east)) === 10);
  expect(await replicasIn(west)).toBe(5);
  await create({ a: '1' });
  await federation.eventually(async () => Boolean(await mapIn(east)));
  const { status } = await federation.client.of(Cluster).get('west');
  expect(status.conditions).toMatchObject([
    { type: 'Ready', status: 'False', message: 'west is cut off' },
    { type: 'Offline', status: 'True' },
  ]);
  federation.members.get('west')!.cut(false);
  await federation.eventually(async () => (await replicas()).join() === '5,5');
  await inBoth();
});

it('a member that accepts requests and does not answer them holds up nobody', async () => {
  await create({ a: '1' });
  await inBoth();
  federation.members.get('west')!.hang(true);
  const changed = (a: string) =>
    federation.client
      .of(ConfigMap)
      .in('x')
      .patch(name, { type: 'merge', changes: { data: { a } } });
  await changed('2');
  await federation.eventually(async () => (await mapIn(east))?.data?.a === '2');
  await changed('3');
  await federation.eventually(async () => (await mapIn(east))?.data?.a === '3');
  federation.members.get('west')!.hang(false);
  await federation.eventually(async () => (await mapIn(west))?.data?.a === '3');
});

it('a member whose pods cannot be read holds up nobody', async () => {
  const { answer } = federation.members.get('west')!;
  answer('pods', () => Promise.reject(new ApiError('Forbidden', 'no pods for you')));
  await federation.client.of(Deployment).create(deployment(4));
  await federation.eventually(async () => (await replicas()).join() === '2,2');
  await federation.client.of(Deployment).in('x').setScale(name, 8);
  await federation.eventually(async () => (await replicas()).join() === '4,4');
  answer('pods');
});

it('a member that answers nonsense is checked again, and the controllers can be stopped meanwhile', async () => {
  const { answer } = federation.members.get('west')!;
  const isReady = async () =>
    (await federation.client.of(Cluster).get('west')).status.conditions?.some(
      ({ type, status }) => type === 'Ready' && status === 'True',
    ) === true;
  const metadata = { resourceVersion: '1' };
  let asked = 0;
  answer('nodes', async () => {
    asked++;
    return { type: 'list', metadata, items: [{ metadata: null }] } as never;
  });
  await federation.eventually(async () => asked > 1);
  await federation.restart();
  answer('nodes', () => Promise.reject(new ApiError('InternalError', 'broken')));
  await federation.eventually(async () => !(await isReady()));
  answer('nodes');
  await federation.eventually(isReady);
});

it('overrides change the object in their cluster; one that cannot be applied is an event', async () => {
  const override = (path: string) => JSON.stringify({ east: [{ op: 'replace', path, value: '2' }] });
  await create({ a: '1' }, { 'federation.kubernetes.io/overrides': override('/data/a') });
  await federation.eventually(async () => (await mapIn(east))?.data?.a === '2' && (await mapIn(west))?.data?.a === '1');
  const annotations = { 'federation.kubernetes.io/overrides': override('/spec/none/a') };
  const changes = { metadata: { annotations }, data: { a: '5' } };
  await federation.client.of(ConfigMap).in('x').patch(name, { type: 'merge', changes });
  await federation.eventually(async () => (await mapIn(west))?.data?.a === '5');
  await federation.eventually(async () =>
    (await federation.client.of(Event).in('x').list()).items.some(
      ({ involvedObject, message }) =>
        involvedObject.name === name && message?.startsWith('cluster east: the overrides for east cannot be applied'),
    ),
  );
  expect((await mapIn(east))?.data?.a).toBe('2');
});

it('a job is complete when the jobs of all members are', async () => {
  const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'a', image: 'a' }] } } as const;
  const spec = { parallelism: 2, completions: 2, template };
  await federation.client.of(Job).create({ metadata: { name, namespace: 'x' }, spec });
  const jobIn = (client: Client) => found(client.of(Job).in('x').get(name));
  await federation.eventually(async () => Boolean((await jobIn(east)) && (await jobIn(west))));
  const at = '2030-01-01T00:00:00Z';
  const done = (type: string) => ({ type, status: 'True', lastTransitionTime: at });
  const conditions = [done('SuccessCriteriaMet'), done('Complete')];
  const status = { succeeded: 1, startTime: at, completionTime: at, conditions };
  for (const client of [east, west])
    await client.of(Job).in('x').patchStatus(name, { type: 'merge', changes: { status } });
  await federation.eventually(async () => {
    const { status: gathered } = await federation.client.of(Job).in('x').get(name);
    return gathered?.succeeded === 2 && (gathered.conditions ?? []).some(({ type }) => type === 'Complete');
  });
});

describe('a kind that a FederatedType names', () => {
  const types = () => federation.client.of(FederatedType);
  const condition = async (type: string) => (await types().get(type)).status.conditions?.[0];
  const isServed = (type: string) => federation.eventually(async () => (await condition(type))?.status === 'True');

  it('is served and propagated, its replicas are divided and its status is gathered', async () => {
    await types().create({ metadata: { name: 'statefulsets.apps' } });
    await isServed('statefulsets.apps');
    const { metadata, spec } = deployment(9, {
      'federation.kubernetes.io/replica-preferences': '{"clusters":{"east":{"weight":2},"west":{"weight":1}}}',
    });
    await federation.client.of(StatefulSet).create({ metadata, spec: { ...spec, serviceName: 'a' } });
    const setIn = (client: Client) => found(client.of(StatefulSet).in('x').get(name));
    await federation.eventually(
      async () => (await setIn(east))?.spec.replicas === 6 && (await setIn(west))?.spec.replicas === 3,
    );
    for (const client of [east, west]) {
      const status = { replicas: 3, readyReplicas: 2 };
      await client.of(StatefulSet).in('x').patchStatus(name, { type: 'merge', changes: { status } });
    }
    await federation.eventually(async () => (await setIn(federation.client))?.status?.readyReplicas === 4);
    await federation.client.of(StatefulSet).in('x').delete(name, { propagationPolicy: 'Background' });
    await federation.eventually(async () => !(await setIn(federation.client)) && !(await setIn(east)));
  });

  it('may be one that only the members know, until the FederatedType is deleted', async () => {
    const boats = (client: Client) => client.of(Boat).in('x');
    await types().create({
      metadata: { name: 'boats.example.com' },
      spec: { version: 'v1', kind: 'Boat', replicasPath: 'spec.berths' },
    });
    await isServed('boats.example.com');
    const spec = { berths: 4, colour: 'grey' };
    await boats(federation.client).create({ metadata: { name, namespace: 'x' }, spec });
    const specs = () => Promise.all([east, west].map(async (each) => (await found(boats(each).get(name)))?.spec));
    await federation.eventually(async () => (await specs()).every((each) => each?.berths === 2));
    expect((await specs())[0]).toEqual({ berths: 2, colour: 'grey' });
    for (const [client, weather] of [
      [east, 'fair'],
      [west, 'foul'],
    ] as const) {
      await boats(client).patchStatus(name, { type: 'merge', changes: { status: { sailors: 1, weather } } });
    }
    await federation.eventually(async () => (await boats(federation.client).get(name)).status?.sailors === 2);
    expect((await boats(federation.client).get(name)).status).toEqual({ sailors: 2 });
    await types().delete('boats.example.com');
    await federation.eventually(async () => !(await found(boats(federation.client).get(name))));
    await boats(east).patch(name, { type: 'merge', changes: { spec: { colour: 'red' } } });
    await federation.clock.advance(2_000);
    expect((await boats(east).get(name)).spec.colour).toBe('red');
  });

  it('is divided between the clusters that have it', async () => {
    const plain = await federation.join('plain', {}, allKinds);
    await types().create({
      metadata: { name: 'boats.example.com' },
      spec: { version: 'v1', kind: 'Boat', replicasPath: 'spec.berths' },
    });
    await isServed('boats.example.com');
    const boats = (client: Client) => client.of(Boat).in('x');
    await boats(federation.client).create({ metadata: { name, namespace: 'x' }, spec: { berths: 4 } });
    const berths = () =>
      Promise.all([east, west].map(async (each) => (await found(boats(each).get(name)))?.spec.berths));
    await federation.eventually(async () => (await berths()).join() === '2,2');
    await federation.client.of(Cluster).delete('plain');
    await expect(boats(plain.client).list()).rejects.toMatchObject({ reason: 'NotFound' });
  });

  it.each([
    ['configmaps', 'configmaps is federated already, without this object'],
    ['none.example.com', 'Quarterdeck has no kind none.example.com: spec.version and spec.kind are required'],
    ['bindings', 'objects of bindings cannot be propagated: no get'],
  ])('%s: its status says why it is not served', async (type, message) => {
    await types().create({ metadata: { name: type } });
    await federation.eventually(async () => (await condition(type))?.status === 'False');
    expect((await condition(type))?.message).toContain(message);
  });
});

it('controllers that start again change nothing that is right, and put right what is not', async () => {
  await federation.client.of(Deployment).create(deployment(10));
  await federation.eventually(async () => (await replicas()).join() === '5,5');
  const versions = () =>
    Promise.all(
      [east, west].map(async (each) => (await each.of(Deployment).in('x').get(name)).metadata.resourceVersion),
    );
  const before = await versions();
  await create({ a: '1' });
  await federation.restart();
  await inBoth();
  expect(await versions()).toEqual(before);
});

it('a service has an address of its own in each member, and those of its load balancers in the federation', async () => {
  const spec = { type: 'LoadBalancer', ports: [{ port: 80 }], selector: { app: 'a' } } as const;
  await federation.client.of(Service).create({ metadata: { name, namespace: 'x' }, spec });
  const inMember = (client: Client) => found(client.of(Service).in('x').get(name));
  await federation.eventually(async () => Boolean((await inMember(east)) && (await inMember(west))));
  const ingress = [{ ip: '192.0.2.1' }];
  await east
    .of(Service)
    .in('x')
    .patchStatus(name, { type: 'merge', changes: { status: { loadBalancer: { ingress } } } });
  await federation.eventually(async () => {
    const { status } = await federation.client.of(Service).in('x').get(name);
    return status?.loadBalancer?.ingress?.[0]?.ip === '192.0.2.1';
  });
  const { metadata } = (await inMember(west))!;
  await federation.clock.advance(2_000);
  expect((await inMember(west))?.metadata.resourceVersion).toBe(metadata.resourceVersion);
});

it('an annotation that cannot be read is an event', async () => {
  await create({}, { 'federation.alpha.kubernetes.io/cluster-selector': '{' });
  await federation.eventually(async () =>
    (await federation.client.of(Event).in('x').list()).items.some(
      ({ involvedObject, message }) => involvedObject.name === name && message?.includes('not valid JSON'),
    ),
  );
  expect(await mapIn(east)).toBeUndefined();
});

it('a deleted namespace goes with everything in it, also in the members', async () => {
  await federation.client.of(Namespace).create({ metadata: { name: 'gone' } });
  await federation.client.of(ConfigMap).create({ metadata: { name, namespace: 'gone' } });
  const inMember = () => found(east.of(ConfigMap).in('gone').get(name));
  await federation.eventually(async () => Boolean(await inMember()));
  await federation.client.of(Namespace).delete('gone', { propagationPolicy: 'Background' });
  await federation.eventually(async () => !(await inMember()));
  // No controller finishes the deletion of namespaces in these members, so that the federation waits.
  await federation.eventually(async () => (await east.of(Namespace).get('gone')).status.phase === 'Terminating');
  expect((await federation.client.of(Namespace).get('gone')).metadata.deletionTimestamp).toBeDefined();
  for (const client of [east, west]) {
    const left = await client.of(Namespace).get('gone');
    await client
      .of(Namespace)
      .subresource('gone', 'finalize')
      .update({ ...left, spec: { finalizers: [] } });
  }
  await federation.eventually(async () => !(await found(federation.client.of(Namespace).get('gone'))));
});

it('a cluster that joins gets what its labels select', async () => {
  const selector = JSON.stringify([{ key: 'zone', operator: 'In', values: ['n'] }]);
  await create({ a: '1' }, { 'federation.alpha.kubernetes.io/cluster-selector': selector });
  const north = await federation.join('north', { zone: 'n' });
  await federation.eventually(async () => Boolean(await mapIn(north.client)));
  expect(await mapIn(east)).toBeUndefined();
  await federation.client.of(Cluster).delete('north');
  await federation.clock.advance(100);
  expect((await mapIn(north.client))?.data).toEqual({ a: '1' });
});

it('a kind whose controller is turned off is not propagated, and others are', async () => {
  const propagates = ({ kind }: { readonly kind: { readonly plural: string } }) => kind.plural !== 'configmaps';
  const partial = await startFederation(['north'], { propagates });
  const north = partial.members.get('north')!.client;
  const metadata = { name: 'a', namespace: 'x' };
  await partial.client.of(ConfigMap).create({ metadata, data: {} });
  await partial.client.of(Service).create({ metadata, spec: { ports: [{ port: 80 }] } } as never);
  await partial.eventually(async () => (await found(north.of(Service).in('x').get('a'))) !== undefined);
  expect(await found(north.of(ConfigMap).in('x').get('a'))).toBeUndefined();
  await partial.stop();
});
