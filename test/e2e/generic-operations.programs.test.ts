/**
 * Tests every row of the generic operations on every kind in every version, over HTTPS against the built program. The
 * objects are those of examples/kinds.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { allKinds } from '../../src/kinds/all.ts';
import type { Kind, Version } from '../../src/kinds/kind.ts';
import { type Qd, startQd, take } from './program.ts';

const EXAMPLES = join(import.meta.dirname, '..', '..', 'examples', 'kinds');

const examples = new Map<string, any>(
  readdirSync(EXAMPLES).map((file) => {
    const object = parse(readFileSync(join(EXAMPLES, file), 'utf8'));
    return [object.kind, object];
  }),
);

const condition = { type: 'Example', status: 'True', lastTransitionTime: '2030-01-01T00:00:00Z', reason: 'Shown' };

/** A status that each kind with one takes. */
const STATUSES: Readonly<Record<string, object>> = {
  // The server keeps the condition of a local one; it may have another message.
  APIService: { conditions: [{ type: 'Available', status: 'True', reason: 'Local', message: 'shown' }] },
  CertificateSigningRequest: { conditions: [{ type: 'Failed', status: 'True', reason: 'Shown' }] },
  FlowSchema: { conditions: [condition] },
  Ingress: { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } },
  PriorityLevelConfiguration: { conditions: [condition] },
  ServiceCIDR: { conditions: [{ ...condition, message: 'shown' }] },
  ValidatingAdmissionPolicy: { conditions: [{ ...condition, message: 'shown' }] },
  VolumeAttachment: { attached: true },
  CustomResourceDefinition: { storedVersions: ['v1'] },
  CronJob: { lastScheduleTime: '2030-01-01T00:00:00Z' },
  DaemonSet: { currentNumberScheduled: 1, numberMisscheduled: 0, desiredNumberScheduled: 1, numberReady: 1 },
  Deployment: { replicas: 1 },
  HorizontalPodAutoscaler: { currentReplicas: 1, desiredReplicas: 2 },
  Job: { active: 1, startTime: '2030-01-01T00:00:00Z' },
  Namespace: { conditions: [{ type: 'Example', status: 'True' }] },
  Node: { conditions: [{ type: 'Ready', status: 'True' }] },
  PersistentVolume: { phase: 'Available' },
  PersistentVolumeClaim: { phase: 'Pending' },
  Pod: { phase: 'Running' },
  PodDisruptionBudget: { currentHealthy: 1, expectedPods: 1 },
  ReplicaSet: { replicas: 1 },
  ReplicationController: { replicas: 1 },
  ResourceClaim: {
    allocation: {
      devices: { results: [{ request: 'gpu', driver: 'gpu.example.com', pool: 'example', device: 'gpu-0' }] },
    },
  },
  // A status that its controller agrees with.
  ResourceQuota: { hard: { pods: '20' } },
  Service: {
    conditions: [
      { type: 'Example', status: 'True', reason: 'Shown', message: '', lastTransitionTime: '2030-01-01T00:00:00Z' },
    ],
  },
  StatefulSet: { replicas: 1, availableReplicas: 0 },
  StorageVersionMigration: { resourceVersion: '7' },
};

interface Case {
  readonly title: string;
  readonly kind: Kind;
  readonly version: Version;
}

const cases: Case[] = allKinds.flatMap((kind) =>
  kind.versions.map((version) => ({ title: `${version.apiVersion} ${kind.plural}`, kind, version })),
);
const can = (kind: Kind, verb: NonNullable<Kind['verbs']>[number]) =>
  kind.verbs === undefined || kind.verbs.includes(verb);

/** Controllers without which nothing can be created or deleted. */
const CONTROLLERS = 'namespace,service-account,root-ca,pv-protection,pvc-protection,vac-protection';

let qd: Qd;
beforeAll(async () => {
  // Written objects stay as they are: no controller drives them.
  qd = await startQd({ flags: ['--controllers', CONTROLLERS, '--enable-priority-and-fairness', 'false'] });
});
afterAll(() => qd?.stop());

test('every kind has an example', () => {
  for (const { kind } of allKinds) expect([...examples.keys()]).toContain(kind);
});

describe.each(cases.filter(({ kind }) => can(kind, 'get') && can(kind, 'create')))('$title', ({ kind, version }) => {
  const slug = version.apiVersion.replace(/[/.]/g, '-');
  const namespace = kind.scope === 'Namespaced' ? `e2e-${kind.plural}-${slug}` : undefined;
  const [name, one, two] = namesOf(kind, slug);
  const prefix = version.group ? `/apis/${version.apiVersion}` : `/api/${version.apiVersion}`;
  const inside = namespace === undefined ? '' : `/namespaces/${namespace}`;
  const collection = `${prefix}${inside}/${kind.plural}`;
  const everywhere = `${prefix}/${kind.plural}`;
  const item = `${collection}/${name}`;

  const example = (wanted = name): any => {
    const object = structuredClone(examples.get(kind.kind));
    object.apiVersion = version.apiVersion;
    object.metadata.name = wanted;
    if (kind.kind === 'CustomResourceDefinition') return definitionOf(object);
    if (kind.kind === 'APIService') object.spec.group = wanted.slice(wanted.indexOf('.') + 1);
    if (kind.kind !== 'Event') return object;
    object.involvedObject.namespace = namespace;
    return version.group === 'events.k8s.io' ? inNewerForm(object) : object;
  };
  const identity = { kind: kind.kind, apiVersion: version.apiVersion };
  const success = (code = 200) => ({ code, body: { kind: 'Status', status: 'Success', code: 200, metadata: {} } });

  beforeAll(async () => {
    if (namespace !== undefined) {
      const made = await qd.request('POST', '/api/v1/namespaces', { body: { metadata: { name: namespace } } });
      expect(made.code).toBe(200);
    }
  });

  test('create', async () => {
    const made = await qd.request('POST', collection, { body: example() });
    expect(made).toMatchObject({
      code: 200,
      body: {
        ...identity,
        metadata: { name, selfLink: item, uid: expect.any(String), resourceVersion: expect.stringMatching(/^\d+$/) },
      },
    });
  });

  test('read, list in the namespace and in all', async () => {
    expect(await qd.request('GET', item)).toMatchObject({ code: 200, body: { ...identity, metadata: { name } } });
    for (const path of [collection, everywhere]) {
      const list = await qd.request('GET', `${path}?fieldSelector=metadata.name%3D${name}`);
      expect(list).toMatchObject({ code: 200, body: { kind: `${kind.kind}List`, apiVersion: version.apiVersion } });
      expect(list.body.items.map(({ metadata }: any) => metadata.name)).toContain(name);
    }
  });

  test.each([
    [`${collection}?watch=true`],
    [`${prefix}/watch${inside}/${kind.plural}/${name}`],
    [`${prefix}/watch${inside}/${kind.plural}`],
    [`${prefix}/watch/${kind.plural}?fieldSelector=metadata.name%3D${name}`],
  ])('watch %s', async (path) => {
    const [event] = await take(await qd.watch(path), 1);
    expect(event).toMatchObject({ type: 'ADDED', object: identity });
  });

  test('partially update, with each type of patch', async () => {
    const labels = { metadata: { labels: { patched: 'merge' } } };
    const patched = (type: string, body: unknown) => qd.request('PATCH', item, { type: `application/${type}`, body });
    expect(await patched('merge-patch+json', labels)).toMatchObject({ code: 200, body: labels });
    const strategic = { metadata: { labels: { patched: 'strategic' } } };
    expect(await patched('strategic-merge-patch+json', strategic)).toMatchObject({ code: 200, body: strategic });
    const json = [{ op: 'replace', path: '/metadata/labels/patched', value: 'json' }];
    expect(await patched('json-patch+json', json)).toMatchObject({
      code: 200,
      body: { ...identity, metadata: { labels: { patched: 'json' } } },
    });
  });

  test('replace, and the lock that a stale replace runs into', async () => {
    const { body: object } = await qd.request('GET', item);
    object.metadata.labels.replaced = 'yes';
    expect(await qd.request('PUT', item, { body: object })).toMatchObject({
      code: 200,
      body: { ...identity, metadata: { labels: { replaced: 'yes' } } },
    });
    const stale = await qd.request('PUT', item, { body: object });
    expect(stale).toMatchObject({ code: 409, body: { kind: 'Status', reason: 'Conflict' } });
  });

  const { status: hasStatus, scale: hasScale } = kind.subresources ?? {};

  test.each(hasStatus ? [STATUSES[kind.kind]!] : [])('read, patch and replace status', async (status) => {
    const patch = { type: 'application/merge-patch+json', body: { status } };
    expect(await qd.request('PATCH', `${item}/status`, patch)).toMatchObject({ code: 200, body: { status } });
    const read = await qd.request('GET', `${item}/status`);
    expect(read).toMatchObject({ code: 200, body: { ...identity, status } });
    expect(await qd.request('PUT', `${item}/status`, { body: read.body })).toMatchObject({
      code: 200,
      body: { status },
    });
  });

  test.each(hasScale ? [7] : [])('read and write scale', async (replicas) => {
    const scale = await qd.request('GET', `${item}/scale`);
    expect(scale).toMatchObject({ code: 200, body: { kind: 'Scale', metadata: { name } } });
    scale.body.spec.replicas = replicas;
    expect(await qd.request('PUT', `${item}/scale`, { body: scale.body })).toMatchObject({
      code: 200,
      body: { spec: { replicas } },
    });
    expect((await qd.request('GET', item)).body.spec.replicas).toBe(replicas);
  });

  test('delete', async () => {
    const uid = (await qd.request('GET', item)).body.metadata.uid;
    const gone = await qd.request('DELETE', item);
    expect(gone).toMatchObject(success());
    expect(gone.body.details).toMatchObject({ name, uid });
    await goneFor(item);
    expect(await qd.request('GET', item)).toMatchObject({ code: 404, body: { reason: 'NotFound' } });
  });

  test.each(can(kind, 'deletecollection') ? [[one, two]] : [])('delete collection', async (...names) => {
    for (const each of names) {
      const object = example(each);
      object.metadata.labels = { batch: slug };
      expect((await qd.request('POST', collection, { body: object })).code).toBe(200);
    }
    const selector = `labelSelector=batch%3D${slug}`;
    expect(await qd.request('DELETE', `${collection}?${selector}`)).toMatchObject(success());
    for (const each of names) await goneFor(`${collection}/${each}`);
    expect((await qd.request('GET', `${collection}?${selector}`)).body.items).toEqual([]);
  });
});

/** Returns one name for most tests, and two more. An IPAddress has to be named after its address. */
function namesOf(kind: Kind, slug: string): [string, string, string] {
  if (kind.kind === 'IPAddress') return ['192.0.2.1', '192.0.2.2', '192.0.2.3'];
  // The names of some objects begin, or end, with a part of their spec.
  if (kind.kind === 'CustomResourceDefinition') return ['ones.example.dev', 'twos.example.dev', 'threes.example.dev'];
  if (kind.kind === 'APIService')
    return ['one', 'two', 'three'].map((each) => `v1.${each}.${slug}`) as [string, string, string];
  const name = kind.scope === 'Namespaced' ? 'example' : `${kind.plural}-${slug}`;
  const full = kind.kind === 'ClusterTrustBundle' ? `example.dev:signer:${name}` : name;
  return [full, `${full}-one`, `${full}-two`];
}

/** Returns a definition of the kind whose plural and group are in its name. */
function definitionOf(definition: any): any {
  const [plural, ...group] = definition.metadata.name.split('.');
  const singular = plural.slice(0, -1);
  const names = { plural, singular, kind: singular[0].toUpperCase() + singular.slice(1) };
  return { ...definition, spec: { ...definition.spec, group: group.join('.'), names } };
}

/** Returns an Event in the form of events.k8s.io: under newer names, and without the fields of the older form. */
function inNewerForm({ kind, apiVersion, metadata, involvedObject: regarding, type, reason, message: note }: any) {
  const reporter = { reportingController: 'example.com/reporter', reportingInstance: 'one' };
  const eventTime = '2030-01-01T00:00:00.000000Z';
  return { kind, apiVersion, metadata, regarding, type, reason, note, action: 'Started', eventTime, ...reporter };
}

/** Waits for the event of its removal if the object is not removed at once. */
async function goneFor(item: string): Promise<void> {
  const [plain, name] = [item.slice(0, item.lastIndexOf('/')), item.slice(item.lastIndexOf('/') + 1)];
  const found = await qd.request('GET', `${plain}?fieldSelector=metadata.name%3D${name}`);
  if (found.body.items.length === 0) return;
  const from = found.body.metadata.resourceVersion;
  const path = `${plain}?watch=true&resourceVersion=${from}&fieldSelector=metadata.name%3D${name}`;
  for await (const { type } of await qd.watch(path)) if (type === 'DELETED') return;
}
