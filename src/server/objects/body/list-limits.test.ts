/** A list or map beyond its maximum is a 422 for every type of write. */
import { beforeEach, describe, expect, it } from 'vitest';
import { type TestServer, testServer } from '../../../../test/support/server.ts';
import { ApiError } from '../../../api/errors.ts';
import { allKinds } from '../../../kinds/all.ts';
import type { AdmissionPlugin } from '../../operations/admission/plugin.ts';

const TOO_MANY = 10_001;
const many = <T>(item: (i: number) => T, count = TOO_MANY): T[] => Array.from({ length: count }, (_, i) => item(i));
const entries = (count = TOO_MANY) => Object.fromEntries(many((i) => [`k${i}`, 'v'] as const, count));
const meta = { name: 'a', namespace: 'default' };
const container = { name: 'c', image: 'i' };
const pod = { metadata: meta, spec: { containers: [container] } };

/** An admission plugin that makes a list too long. */
const prolonging: AdmissionPlugin = {
  name: 'Prolonging',
  handles: (kind) => kind.kind === 'Secret',
  admit(_, { object }) {
    if (object) object.metadata.finalizers = many((i) => `example.com/f${i}`);
  },
};

let api: TestServer;

beforeEach(async () => {
  api = await testServer(allKinds, { admission: [prolonging] });
});

async function rejection(request: Promise<unknown>): Promise<string[]> {
  const error = await request.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof ApiError)) throw error ?? new Error('nothing was rejected');
  expect(error.code).toBe(422);
  expect(error.reason).toBe('Invalid');
  return (error.details?.causes ?? []).map(({ field, reason, message }) => `${field} ${reason} ${message}`);
}

const tooMany = (field: string, limit = 10_000, count = limit + 1) => [
  `${field} FieldValueTooMany Too many: ${count}: must have at most ${limit} items`,
];

describe('a list or map beyond its maximum is rejected', () => {
  it('in a new object, with the message of Kubernetes', async () => {
    const scopes = many(() => 'BestEffort');
    const create = api.create('resourcequotas', { metadata: meta, spec: { scopes } });
    await expect(create).rejects.toThrow(
      'ResourceQuota "a" is invalid: spec.scopes: Too many: 10001: must have at most 10000 items',
    );
  });

  it('in a quota, whose resources are compared with every object of a namespace', async () => {
    const hard = Object.fromEntries(many((i) => [`count/things-${i}`, '1'] as const, 2_001));
    const create = api.create('resourcequotas', { metadata: meta, spec: { hard } });
    expect(await rejection(create)).toEqual(tooMany('spec.hard', 2_000));
  });

  it.each<[string, object, string]>([
    ['labels', { labels: entries() }, 'metadata.labels'],
    ['annotations', { annotations: entries() }, 'metadata.annotations'],
    ['finalizers', { finalizers: many(() => 'a/b') }, 'metadata.finalizers'],
    ['owners', { ownerReferences: many(() => ({})) }, 'metadata.ownerReferences'],
    ['field managers', { managedFields: many(() => ({})) }, 'metadata.managedFields'],
  ])('in metadata: %s', async (_, more, field) => {
    expect(await rejection(api.create('configmaps', { metadata: { ...meta, ...more } }))).toEqual(tooMany(field));
  });

  it('in a list of a list', async () => {
    const containers = [container, { ...container, name: 'd', env: many((i) => ({ name: `e${i}` })) }];
    const create = api.create('pods', { metadata: meta, spec: { containers } });
    expect(await rejection(create)).toEqual(tooMany('spec.containers[1].env'));
  });

  it('in an update, a patch of each type and a write of the status', async () => {
    await api.create('pods', pod);
    const gates = many((i) => ({ name: `g${i}` }));
    const long = { ...pod, spec: { ...pod.spec, schedulingGates: gates } };
    const status = { conditions: many((i) => ({ type: `t${i}`, status: 'True' })) };
    const inSpec = tooMany('spec.schedulingGates');
    expect(await rejection(api.update('pods', long))).toEqual(inSpec);
    expect(await rejection(api.patch('pods', 'a', { spec: long.spec }))).toEqual(inSpec);
    expect(await rejection(api.patch('pods', 'a', { spec: long.spec }, { patchType: 'strategic' }))).toEqual(inSpec);
    const operations = [{ op: 'add', path: '/spec/schedulingGates', value: gates }];
    expect(await rejection(api.patch('pods', 'a', operations, { patchType: 'json' }))).toEqual(inSpec);
    const inStatus = tooMany('status.conditions');
    expect(await rejection(api.update('pods', { ...pod, status }, { subresource: 'status' }))).toEqual(inStatus);
    expect(await rejection(api.patch('pods', 'a', { status }, { subresource: 'status' }))).toEqual(inStatus);
  });

  it('when a patch adds to a list', async () => {
    const finalizers = many((i) => `example.com/f${i}`, 10_000);
    await api.create('configmaps', { metadata: { ...meta, finalizers } });
    const operations = [{ op: 'add', path: '/metadata/finalizers/-', value: 'example.com/one-more' }];
    expect(await rejection(api.patch('configmaps', 'a', operations, { patchType: 'json' }))).toEqual(
      tooMany('metadata.finalizers'),
    );
    const more = { metadata: { finalizers: ['example.com/one-more'] } };
    expect(await rejection(api.patch('configmaps', 'a', more, { patchType: 'strategic' }))).toEqual(
      tooMany('metadata.finalizers'),
    );
  });

  it('in a review', async () => {
    const asked = { apiVersion: 'authorization.k8s.io/v1', namespace: '' };
    const attributes = { nonResourceAttributes: { path: '/', verb: 'get' } };
    const review = (more: object) =>
      api.create('subjectaccessreviews', { spec: { ...attributes, user: 'u', ...more } }, asked);
    expect(await rejection(review({ groups: many((i) => `g${i}`) }))).toEqual(tooMany('spec.groups'));
    expect(await rejection(review({ extra: { k: many((i) => `v${i}`) } }))).toEqual(tooMany('spec.extra[k]'));
    expect(await rejection(review({ extra: Object.fromEntries(many((i) => [`k${i}`, ['v']] as const)) }))).toEqual(
      tooMany('spec.extra'),
    );
    const audiences = many((i) => `a${i}`);
    const tokenReview = { spec: { token: 't', audiences } };
    expect(
      await rejection(
        api.create('tokenreviews', tokenReview, { apiVersion: 'authentication.k8s.io/v1', namespace: '' }),
      ),
    ).toEqual(tooMany('spec.audiences'));
  });

  it('in the body of a subresource', async () => {
    await api.create('pods', pod);
    const deleteOptions = { dryRun: many(() => 'All') };
    const eviction = api.create('pods', { metadata: meta, deleteOptions }, { name: 'a', subresource: 'eviction' });
    expect(await rejection(eviction)).toEqual(tooMany('deleteOptions.dryRun'));
    const binding = { metadata: { ...meta, labels: entries() }, target: { kind: 'Node', name: 'n' } };
    const bind = api.create('pods', binding, { name: 'a', subresource: 'binding' });
    expect(await rejection(bind)).toEqual(tooMany('metadata.labels'));
  });

  it('in the options of a delete', async () => {
    await api.create('configmaps', { metadata: meta });
    const body = { kind: 'DeleteOptions', apiVersion: 'v1', dryRun: many(() => 'All') };
    expect(await rejection(api.delete('configmaps', 'a', { body }))).toEqual(tooMany('dryRun'));
    expect(await rejection(api.deleteCollection('configmaps', { body }))).toEqual(tooMany('dryRun'));
    await expect(api.delete('configmaps', 'a', { body })).rejects.toThrow('DeleteOptions.meta.k8s.io "" is invalid');
  });

  it('when admission made it too long', async () => {
    expect(await rejection(api.create('secrets', { metadata: meta }))).toEqual(tooMany('metadata.finalizers'));
  });

  it("at Kubernetes' own maximum, where it has one", async () => {
    const endpoints = many((i) => ({ addresses: [`10.0.${i >> 8}.${i & 255}`] }), 1001);
    const slice = { metadata: meta, addressType: 'IPv4', endpoints };
    const asked = { apiVersion: 'discovery.k8s.io/v1' };
    expect(await rejection(api.create('endpointslices', slice, asked))).toEqual(tooMany('endpoints', 1000));
  });
});

describe('a stored object beyond a maximum', () => {
  /** An object as stored by a release with other limits. */
  const stored = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { ...meta, finalizers: many((i) => `a.b/f${i}`) } };
  const finalizers = (count: number) => ({
    ...stored,
    metadata: { ...meta, finalizers: many((i) => `a.b/f${i}`, count) },
  });

  beforeEach(async () => {
    await api.store.commit([
      { key: '/registry/core/configmaps/default/a', value: Buffer.from(JSON.stringify(stored)) },
    ]);
  });

  it('is read, and can be written as long as it does not grow', async () => {
    expect((await api.get('configmaps', 'a')).metadata.finalizers).toHaveLength(TOO_MANY);
    expect((await api.update('configmaps', { ...stored, data: { a: 'b' } })).data).toEqual({ a: 'b' });
    expect((await api.patch('configmaps', 'a', { metadata: { labels: { a: 'b' } } })).metadata.labels).toEqual({
      a: 'b',
    });
    expect(await rejection(api.update('configmaps', finalizers(TOO_MANY + 1)))).toEqual(
      tooMany('metadata.finalizers', 10_000, TOO_MANY + 1),
    );
    expect(await rejection(api.patch('configmaps', 'a', finalizers(TOO_MANY + 1)))).toHaveLength(1);
    expect((await api.update('configmaps', finalizers(1))).metadata.finalizers).toHaveLength(1);
    expect(await rejection(api.update('configmaps', finalizers(TOO_MANY)))).toEqual(tooMany('metadata.finalizers'));
  });

  it('can be deleted', async () => {
    await api.delete('configmaps', 'a');
    await api.patch('configmaps', 'a', { metadata: { finalizers: null } });
    await expect(api.get('configmaps', 'a')).rejects.toThrow('not found');
  });
});
