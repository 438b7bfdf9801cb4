import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { keepingItsPromise, podNamed } from '../../../../../test/support/admission.ts';
import { type Asked, type TestServer, testServer } from '../../../../../test/support/server.ts';
import { jsonPatch, startWebhooks, type WebhookServer } from '../../../../../test/support/webhook-server.ts';
import { withResolvers } from '../../../../base/event-loop/with-resolvers.ts';
import { allKinds } from '../../../../kinds/all.ts';
import type { AdmissionPlugin } from '../plugin.ts';
import { namespaceLifecycle } from '../plugins/namespace-lifecycle/namespace-lifecycle.ts';
import { mutatingAdmissionWebhook } from './mutating.ts';
import { validatingAdmissionWebhook } from './validating.ts';

const REGISTRATION: Asked = { apiVersion: 'admissionregistration.k8s.io/v1', namespace: '' };
const PODS = { operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] };
const CONFIG_MAPS = { operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] };
const DEEP = Buffer.from('['.repeat(3_000_000)).toString('base64');
const ALLOWED = { allowed: true };

let webhooks: WebhookServer;
let api: TestServer;
let counter = 0;

beforeAll(async () => {
  webhooks = await startWebhooks('hooks.default.svc');
});
afterAll(() => webhooks.close());
beforeEach(() => start());

async function start(...more: readonly AdmissionPlugin[]) {
  const plugins = [namespaceLifecycle, ...more, mutatingAdmissionWebhook, validatingAdmissionWebhook];
  api = await testServer(allKinds, { admission: plugins.map(keepingItsPromise) });
}

/** Registers a webhook with the given decision; returns its path. */
async function register(kind: 'Mutating' | 'Validating', decide: Parameters<WebhookServer['on']>[1], fields: object) {
  const path = `hook-${++counter}`;
  webhooks.on(path, decide);
  const webhook = {
    name: `${path}.example.dev`,
    clientConfig: { url: webhooks.url(path), caBundle: webhooks.caBundle },
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    ...fields,
  };
  const plural = `${kind.toLowerCase()}webhookconfigurations`;
  await api.create(plural, { metadata: { name: path }, webhooks: [webhook] }, REGISTRATION);
  return path;
}

const made = (name: string, more: object = {}, asked: Asked = {}) =>
  api.create('configmaps', { metadata: { name }, ...more }, asked);

describe('a mutating webhook', () => {
  it('changes objects, which are defaulted and validated afterwards', async () => {
    const container = { name: 'proxy', image: 'proxy:1' };
    const label = { op: 'add', path: '/metadata/labels', value: { by: 'webhook' } };
    const add = { op: 'add', path: '/spec/containers/-', value: container };
    await register('Mutating', () => jsonPatch(label, add), { rules: [PODS] });
    const pod = await api.create('pods', podNamed('p'));
    expect(pod.metadata.labels).toEqual({ by: 'webhook' });
    expect(pod.spec.containers[1]).toMatchObject({ ...container, terminationMessagePolicy: 'File' });
    await register('Mutating', () => jsonPatch({ op: 'replace', path: '/spec/restartPolicy', value: 'Sometimes' }), {
      rules: [PODS],
    });
    await expect(api.create('pods', podNamed('q'))).rejects.toMatchObject({ reason: 'Invalid' });
  });

  it('receives a new object as requested, with the user and the options', async () => {
    const path = await register('Mutating', () => ALLOWED, { rules: [PODS] });
    const user = { name: 'ann', uid: '7', groups: ['dev'], extra: { scopes: ['a'] } };
    await api.create('pods', { ...podNamed(''), metadata: { generateName: 'web-' } }, { user });
    const [request] = webhooks.asked(path);
    expect(request).toMatchObject({
      kind: { group: '', version: 'v1', kind: 'Pod' },
      resource: { group: '', version: 'v1', resource: 'pods' },
      requestKind: { group: '', version: 'v1', kind: 'Pod' },
      namespace: 'default',
      operation: 'CREATE',
      userInfo: { username: 'ann', uid: '7', groups: ['dev'], extra: { scopes: ['a'] } },
      dryRun: false,
      oldObject: null,
      options: { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1' },
    });
    expect(request).not.toHaveProperty('name');
    expect(request.object).toMatchObject({ kind: 'Pod', apiVersion: 'v1', metadata: { generateName: 'web-' } });
    expect(Object.keys(request.object.metadata).sort()).toEqual(['generateName', 'managedFields', 'namespace']);
  });

  it('cannot change fields that only the server writes', async () => {
    const changes = [
      { op: 'add', path: '/metadata/uid', value: 'mine' },
      { op: 'add', path: '/metadata/name', value: 'other' },
      { op: 'add', path: '/data', value: { a: 'b' } },
    ];
    await register('Mutating', () => jsonPatch(...changes), { rules: [CONFIG_MAPS] });
    const map = await made('x');
    expect(map).toMatchObject({ metadata: { name: 'x' }, data: { a: 'b' } });
    expect(map.metadata.uid).not.toBe('mine');
  });

  describe('a mutating webhook changes no more of an object than the request may', () => {
    const apps: Asked = { apiVersion: 'apps/v1' };
    const status: Asked = { ...apps, subresource: 'status' };
    const labels = { app: 'd' };
    const deployment = {
      metadata: { name: 'd' },
      spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: podNamed('').spec } },
    };
    const seen = ({ spec, status: { replicas } = {} }: any) => ({ wanted: spec.replicas, observed: replicas });

    /** Every webhook changes both parts of the object. */
    beforeEach(async () => {
      const everything = { operations: ['*'], apiGroups: ['apps'], apiVersions: ['v1'], resources: ['*/*'] };
      const changes = [
        { op: 'add', path: '/spec/replicas', value: 5 },
        { op: 'add', path: '/status', value: { replicas: 5 } },
      ];
      await api.create('deployments', deployment, apps);
      await register('Mutating', () => jsonPatch(...changes), { rules: [everything] });
    });

    it.each<[string, () => Promise<unknown>, object]>([
      [
        'a new object',
        () => api.create('deployments', { ...deployment, metadata: { name: 'e' } }, apps),
        { wanted: 5 },
      ],
      [
        'an update',
        async () => api.update('deployments', await api.get('deployments', 'd', apps), apps),
        { wanted: 5 },
      ],
      ['a patch', () => api.patch('deployments', 'd', { metadata: { labels } }, apps), { wanted: 5 }],
      [
        'an update of the status',
        async () => api.update('deployments', await api.get('deployments', 'd', apps), status),
        { wanted: 1, observed: 5 },
      ],
      [
        'a patch of the status',
        () => api.patch('deployments', 'd', { status: { replicas: 3 } }, status),
        { wanted: 1, observed: 5 },
      ],
      [
        'a patch of the scale',
        () => api.patch('deployments', 'd', { spec: { replicas: 2 } }, { ...apps, subresource: 'scale' }),
        { wanted: 5 },
      ],
    ])('%s', async (what, write, expected) => {
      await write();
      expect(seen(await api.get('deployments', what === 'a new object' ? 'e' : 'd', apps))).toEqual(expected);
    });
  });

  it('is called in the order of names, and again when another one has changed the object after it', async () => {
    const told: string[] = [];
    const telling = (name: string, change?: object) => (request: any) => {
      told.push(`${name} sees ${Object.keys(request.object.data ?? {}).join() || 'nothing'}`);
      return change ? jsonPatch(change) : ALLOWED;
    };
    const rules = [CONFIG_MAPS];
    await register('Mutating', telling('first'), { rules, reinvocationPolicy: 'IfNeeded' });
    await register('Mutating', telling('second'), { rules });
    await register('Mutating', telling('third', { op: 'add', path: '/data', value: { a: 'b' } }), { rules });
    expect((await made('x')).data).toEqual({ a: 'b' });
    expect(told).toEqual(['first sees nothing', 'second sees nothing', 'third sees nothing', 'first sees a']);
  });

  it('is called again when a plugin of the server changes what it has seen', async () => {
    const late: AdmissionPlugin = {
      name: 'Late',
      handles: (kind) => kind.kind === 'ConfigMap',
      admit(_, { object, isReinvocation }) {
        if (isReinvocation) object!.metadata.labels = { late: 'yes' };
      },
    };
    await start(late);
    const path = await register('Mutating', () => jsonPatch({ op: 'add', path: '/data', value: { a: 'b' } }), {
      rules: [CONFIG_MAPS],
      reinvocationPolicy: 'IfNeeded',
    });
    await made('x');
    expect(webhooks.asked(path).map(({ object }) => object.metadata.labels)).toEqual([undefined, { late: 'yes' }]);
  });

  it('reports a patch that does not apply, and leaves nothing behind', async () => {
    await register('Mutating', () => jsonPatch({ op: 'remove', path: '/data/none' }), { rules: [CONFIG_MAPS] });
    await expect(made('x')).rejects.toMatchObject({ reason: 'InternalError' });
    await expect(api.get('configmaps', 'x')).rejects.toMatchObject({ reason: 'NotFound' });
  });

  it('cannot modify a deleted object', async () => {
    await made('x');
    const path = await register('Mutating', () => jsonPatch({ op: 'add', path: '/data', value: {} }), {
      rules: [CONFIG_MAPS],
    });
    await expect(api.delete('configmaps', 'x')).rejects.toThrow(
      `admission webhook "${path}.example.dev" attempted to modify the object, which is not supported`,
    );
  });

  it('changes the replicas of a scale', async () => {
    const template = { metadata: { labels: { a: 'b' } }, spec: podNamed('p').spec };
    const spec = { replicas: 1, selector: { matchLabels: { a: 'b' } }, template };
    const apps: Asked = { apiVersion: 'apps/v1' };
    await api.create('deployments', { metadata: { name: 'web' }, spec }, apps);
    const scales = {
      operations: ['UPDATE'],
      apiGroups: ['apps'],
      apiVersions: ['*'],
      resources: ['deployments/scale'],
    };
    const path = await register('Mutating', () => jsonPatch({ op: 'replace', path: '/spec/replicas', value: 3 }), {
      rules: [scales],
    });
    const scaled = await api.patch('deployments', 'web', { spec: { replicas: 9 } }, { ...apps, subresource: 'scale' });
    expect(scaled.spec.replicas).toBe(3);
    const [request] = webhooks.asked(path);
    expect(request.kind).toEqual({ group: 'autoscaling', version: 'v1', kind: 'Scale' });
    expect([request.object.spec, request.oldObject.spec]).toEqual([{ replicas: 9 }, { replicas: 1 }]);
  });
});

describe('a validating webhook', () => {
  it('rejects with the status that it chooses', async () => {
    const status = { code: 422, reason: 'Invalid', message: 'too red', details: { name: 'x' } };
    const path = await register('Validating', () => ({ allowed: false, status }), { rules: [CONFIG_MAPS] });
    const error = await made('x').catch((caught) => caught);
    const message = `admission webhook "${path}.example.dev" denied the request: too red`;
    expect(error.toStatus()).toMatchObject({ code: 422, reason: 'Invalid', message, details: { name: 'x' } });
  });

  it.each([
    [{ allowed: false }, 400, 'denied the request without explanation'],
    [{ allowed: false, status: { code: 200, reason: 'Because' } }, 400, 'denied the request: Because'],
    [{ allowed: false, status: { code: 70_000, message: 'no' } }, 400, 'denied the request: no'],
  ])('rejects with %j', async (decision, code, message) => {
    await register('Validating', () => decision, { rules: [CONFIG_MAPS] });
    const error = await made('x').catch((caught) => caught);
    expect(error.toStatus()).toMatchObject({ code, status: 'Failure', message: expect.stringContaining(message) });
  });

  it('warns the client and annotates the audit event', async () => {
    const decision = { allowed: true, warnings: ['old'], auditAnnotations: { team: 'red' } };
    const path = await register('Validating', () => decision, { rules: [CONFIG_MAPS] });
    const notes = await api.notes('create', 'configmaps', { body: { metadata: { name: 'x' } } });
    expect(notes.warnings).toEqual(['old']);
    expect(notes.annotations).toEqual({ [`${path}.example.dev/team`]: 'red' });
  });

  it('drops notes beyond a number', async () => {
    const auditAnnotations = Object.fromEntries(Array.from({ length: 2_000 }, (_, i) => [`a${i}`, 'a']));
    const warnings = Array.from({ length: 2_000 }, (_, i) => `warning ${i}`);
    await register('Validating', () => ({ allowed: true, warnings, auditAnnotations }), { rules: [CONFIG_MAPS] });
    const notes = await api.notes('create', 'configmaps', { body: { metadata: { name: 'x' } } });
    expect(Object.keys(notes.annotations ?? {})).toHaveLength(1_000);
    expect(notes.warnings?.length).toBeLessThanOrEqual(1_000);
  });

  it('shortens audit annotations, and drops those that would be too large together', async () => {
    const long = 'v'.repeat(100_000);
    const many = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`a${i}`, long]));
    const auditAnnotations = { ...many, ['k'.repeat(5_000)]: 'v' };
    const path = await register('Validating', () => ({ allowed: true, auditAnnotations }), { rules: [CONFIG_MAPS] });
    const { annotations = {} } = await api.notes('create', 'configmaps', { body: { metadata: { name: 'x' } } });
    expect(annotations[`${path}.example.dev/a0`]).toBe(`${'v'.repeat(10 * 1024)}...`);
    expect(JSON.stringify(annotations).length).toBeLessThan(300_000);
    expect(Object.keys(annotations).every((key) => key.length < 1_000)).toBe(true);
  });

  it.each([
    ['message', { status: { message: 'm'.repeat(5_000_000) } }],
    ['reason', { status: { reason: 'r'.repeat(5_000_000) } }],
    ['list in place of the message', { status: { message: [['m'.repeat(5_000_000)]] } }],
    ['cause', { status: { message: 'no', details: { causes: [{ message: 'c'.repeat(5_000_000) }] } } }],
    ['uid', { uid: 'u'.repeat(5_000_000) }],
  ])('shortens a rejection with a long %s', async (_, answer) => {
    await register('Validating', () => ({ allowed: false, ...answer }), { rules: [CONFIG_MAPS] });
    const error = await made('x').catch((thrown) => thrown);
    expect(error.toStatus().status).toBe('Failure');
    expect(JSON.stringify(error.toStatus()).length).toBeLessThan(50_000);
  });

  it('receives both objects of updates, the old one of deletes, and dry runs', async () => {
    const path = await register('Validating', () => ALLOWED, { rules: [CONFIG_MAPS] });
    await made('x', { data: { a: '1' } });
    await api.patch('configmaps', 'x', { data: { a: '2' } }, { options: { dryRun: ['All'] } });
    await api.delete('configmaps', 'x');
    const seen = webhooks.asked(path).map(({ operation, name, object, oldObject, dryRun }) => {
      return [operation, name, object?.data.a, oldObject?.data.a, dryRun];
    });
    expect(seen).toEqual([
      ['CREATE', 'x', '1', undefined, false],
      ['UPDATE', 'x', '2', '1', true],
      ['DELETE', 'x', undefined, '1', false],
    ]);
    expect(webhooks.asked(path)[0].object.metadata.uid).toBeTruthy();
  });

  it('is called for connections', async () => {
    await api.create('pods', podNamed('p'));
    const rule = { operations: ['CONNECT'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods/exec'] };
    const path = await register('Validating', () => ({ allowed: false }), { rules: [rule] });
    const asked = { subresource: 'exec', parameters: { command: ['date'], container: 'c' } };
    await expect(api.get('pods', 'p', asked)).rejects.toThrow('denied the request');
    expect(webhooks.asked(path)[0]).toMatchObject({
      kind: { group: '', version: 'v1', kind: 'PodExecOptions' },
      subResource: 'exec',
      name: 'p',
      operation: 'CONNECT',
      object: { kind: 'PodExecOptions', apiVersion: 'v1', command: ['date'], container: 'c' },
    });
  });

  it('is called for bodies that are not stored', async () => {
    const rule = { operations: ['CREATE'], apiGroups: ['*'], apiVersions: ['*'], resources: ['pods/eviction'] };
    const path = await register('Validating', () => ({ allowed: false }), { rules: [rule] });
    await api.create('pods', podNamed('p'));
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'p' } };
    await expect(api.create('pods', eviction, { name: 'p', subresource: 'eviction' })).rejects.toThrow('denied');
    expect(webhooks.asked(path)[0].kind).toMatchObject({ group: 'policy', kind: 'Eviction' });
  });

  it('is called concurrently with others, and the first rejection in order is returned', async () => {
    for (const message of ['one', 'two']) {
      await register('Validating', () => ({ allowed: false, status: { message } }), { rules: [CONFIG_MAPS] });
    }
    await expect(made('x')).rejects.toThrow('denied the request: one');
  });
});

describe('matching', () => {
  const deny = () => ({ allowed: false });
  const isAsked = (asked: Promise<unknown>) =>
    asked.then(
      () => false,
      (error) => String(error).includes('denied the request'),
    );

  it.each([
    ['operations', { ...CONFIG_MAPS, operations: ['UPDATE'] }, false],
    ['groups', { ...CONFIG_MAPS, apiGroups: ['apps'] }, false],
    ['versions', { ...CONFIG_MAPS, apiVersions: ['v2'] }, false],
    ['resources', { ...CONFIG_MAPS, resources: ['secrets'] }, false],
    ['subresources', { ...CONFIG_MAPS, resources: ['configmaps/status'] }, false],
    ['the scope of the cluster', { ...CONFIG_MAPS, scope: 'Cluster' }, false],
    ['the scope of namespaces', { ...CONFIG_MAPS, scope: 'Namespaced' }, true],
    ['wildcards', { operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'] }, true],
    ['all subresources', { ...CONFIG_MAPS, resources: ['configmaps/*'] }, true],
  ])('uses %s', async (_, rule, expected) => {
    await register('Validating', deny, { rules: [rule] });
    expect(await isAsked(made('x'))).toBe(expected);
  });

  it('uses the labels of the namespace', async () => {
    await api.patch('namespaces', 'default', { metadata: { labels: { checked: 'yes' } } }, { namespace: '' });
    const namespaces = { ...CONFIG_MAPS, resources: ['namespaces'] };
    const namespaceSelector = { matchLabels: { checked: 'yes' } };
    await register('Validating', deny, { rules: [CONFIG_MAPS, namespaces], namespaceSelector });
    expect(await isAsked(made('x'))).toBe(true);
    expect(await isAsked(made('x', {}, { namespace: 'kube-system' }))).toBe(false);
    const named = (labels: object) => api.create('namespaces', { metadata: { name: 'n', labels } }, { namespace: '' });
    expect(await isAsked(named({ checked: 'yes' }))).toBe(true);
    expect(await isAsked(named({}))).toBe(false);
  });

  it('uses the labels of the object, before and after the change', async () => {
    await made('x', { metadata: { name: 'x', labels: { checked: 'yes' } } });
    await register('Validating', deny, { rules: [CONFIG_MAPS], objectSelector: { matchLabels: { checked: 'yes' } } });
    expect(await isAsked(made('y'))).toBe(false);
    expect(await isAsked(api.patch('configmaps', 'x', { metadata: { labels: null } }))).toBe(true);
  });

  it('converts to the version of a rule, unless only exact matches count', async () => {
    const rule = { operations: ['CREATE'], apiGroups: ['apps'], apiVersions: ['v1'], resources: ['deployments'] };
    const exact = await register('Validating', () => ALLOWED, { rules: [rule], matchPolicy: 'Exact' });
    const equivalent = await register('Validating', () => ALLOWED, { rules: [rule] });
    const template = { metadata: { labels: { a: 'b' } }, spec: podNamed('p').spec };
    await api.create(
      'deployments',
      { metadata: { name: 'd' }, spec: { template } },
      { apiVersion: 'extensions/v1beta1' },
    );
    expect(webhooks.asked(exact)).toEqual([]);
    expect(webhooks.asked(equivalent)).toMatchObject([
      {
        kind: { group: 'apps', version: 'v1', kind: 'Deployment' },
        requestKind: { group: 'extensions', version: 'v1beta1', kind: 'Deployment' },
        requestResource: { group: 'extensions', version: 'v1beta1', resource: 'deployments' },
        object: { apiVersion: 'apps/v1', spec: { selector: { matchLabels: { a: 'b' } } } },
      },
    ]);
  });

  it('never calls webhooks for their own configurations', async () => {
    const everything = { operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'] };
    const path = await register('Validating', deny, { rules: [everything] });
    await api.delete('validatingwebhookconfigurations', path, REGISTRATION);
    expect(await isAsked(made('x'))).toBe(false);
  });
});

describe('a webhook that fails', () => {
  const url = 'https://127.0.0.1:1/none';

  it.each(['Mutating', 'Validating'] as const)('rejects the request, or is ignored: %s', async (kind) => {
    const rules = [CONFIG_MAPS];
    await register(kind, () => ALLOWED, { rules, clientConfig: { url }, failurePolicy: 'Ignore' });
    const notes = await api.notes('create', 'configmaps', { body: { metadata: { name: 'x' } } });
    const failedOpen = `failed-open.${kind.toLowerCase()}.webhook.admission.k8s.io/round_0_index_0`;
    expect(notes.annotations).toHaveProperty([failedOpen]);
    const path = await register(kind, () => ALLOWED, { rules, clientConfig: { url } });
    const failed = `Internal error occurred: failed calling webhook "${path}.example.dev": failed to call webhook: Post "${url}?timeout=10s": `;
    await expect(made('y')).rejects.toMatchObject({ code: 500, message: expect.stringContaining(failed) });
  });

  it.each([
    ['no JSON', 'hello', 'received invalid webhook response'],
    ['no review', '{}', 'webhook response was absent'],
    ['another uid', { uid: 'x', allowed: true }, 'expected response.uid='],
    ['another kind', '{"kind":"Pod","apiVersion":"v1","response":{}}', 'expected response.uid='],
    ['a patch', jsonPatch(), 'validating webhook may not return response.patch'],
    ['too much', 'x'.repeat(9_000_000), 'the response is too large'],
    ['what is nested without end', '['.repeat(3_000_000), 'json: exceeded max depth'],
  ])('answers with %s', async (_, decision, message) => {
    await register('Validating', () => decision, { rules: [CONFIG_MAPS] });
    await expect(made('x')).rejects.toThrow(message);
  });

  it.each([
    ['a patch without its type', { ...jsonPatch(), patchType: null }, 'response.patch but not response.patchType'],
    ['a type without a patch', { allowed: true, patchType: 'JSONPatch' }, 'response.patchType but not response.patch'],
    ['an unknown type', { ...jsonPatch(), patchType: 'Merge' }, 'unsupported patch type "Merge"'],
    [
      'a patch that is nested without end',
      { allowed: true, patchType: 'JSONPatch', patch: DEEP },
      'exceeded max depth',
    ],
    ['a patch that is no JSON', { allowed: true, patchType: 'JSONPatch', patch: 'YQ==' }, 'undecodable patch'],
    [
      'another kind',
      jsonPatch({ op: 'replace', path: '/kind', value: 'Secret' }),
      'the patched object is not of kind ConfigMap in version v1',
    ],
  ])('answers with %s', async (_, decision, message) => {
    await register('Mutating', () => decision, { rules: [CONFIG_MAPS] });
    await expect(made('x')).rejects.toThrow(message);
  });

  it('does not answer in time', async () => {
    const { promise: isReached, resolve: reached } = withResolvers<void>();
    const path = await register('Validating', () => void reached(), { rules: [CONFIG_MAPS], timeoutSeconds: 2 });
    const asked = made('x').catch((error) => String(error));
    await isReached;
    // Meanwhile, other requests are served: those that do not match the webhook, and all reads.
    await api.create('secrets', { metadata: { name: 'x' } });
    expect((await api.list('configmaps')).items).toEqual([]);
    await api.clock.advance(2000);
    expect(await asked).toContain(
      `"${path}.example.dev": failed to call webhook: Post "${webhooks.url(path)}?timeout=2s": context deadline exceeded`,
    );
  });
});

describe('a webhook behind a Service', () => {
  const clientConfig = () => ({
    service: { namespace: 'default', name: 'hooks', path: '/inside' },
    caBundle: webhooks.caBundle,
  });

  it('is reached at one of its endpoints, with its own name', async () => {
    webhooks.on('inside', () => ({ allowed: false, status: { message: 'from inside' } }));
    await api.create('services', { metadata: { name: 'hooks' }, spec: { ports: [{ port: 443 }] } });
    const subsets = [{ addresses: [{ ip: '10.0.0.9', nodeName: 'n1' }], ports: [{ port: 8443 }] }];
    await api.create('endpoints', { metadata: { name: 'hooks' }, subsets });
    const { connect } = await import('node:net');
    const dialled: object[] = [];
    api.reachNodesBy({
      dial: async ({ node, address, port }: { node: string; address: string; port: number }) => {
        dialled.push({ node, address, port });
        return connect({ host: '127.0.0.1', port: webhooks.port });
      },
    } as never);
    await register('Validating', () => ALLOWED, { rules: [CONFIG_MAPS], clientConfig: clientConfig() });
    await expect(made('x')).rejects.toThrow('denied the request: from inside');
    expect(dialled).toEqual([{ node: 'n1', address: '10.0.0.9', port: 8443 }]);
  });

  it('fails when the Service has no endpoints', async () => {
    await register('Validating', () => ALLOWED, { rules: [CONFIG_MAPS], clientConfig: clientConfig() });
    await expect(made('x')).rejects.toThrow('service "hooks" not found');
    await api.create('services', { metadata: { name: 'hooks' }, spec: { ports: [{ port: 443 }] } });
    await expect(made('x')).rejects.toThrow('no endpoints available for service "hooks"');
  });
});

describe('match conditions', () => {
  const condition = (expression: string, name = 'c') => ({ name, expression });

  it.each(['Mutating', 'Validating'] as const)('decide whether a %s webhook is called', async (kind) => {
    const matchConditions = [
      condition("object.metadata.name != 'skipped'"),
      condition("request.operation == 'CREATE'", 'd'),
    ];
    const path = await register(kind, () => ALLOWED, { rules: [CONFIG_MAPS], matchConditions });
    await made('skipped');
    expect(webhooks.asked(path)).toEqual([]);
    await made('asked');
    expect(webhooks.asked(path).map(({ name }) => name)).toEqual(['asked']);
  });

  it.each(['Mutating', 'Validating'] as const)(
    'that fail leave the decision about a %s webhook to its failure policy',
    async (kind) => {
      const matchConditions = [condition('object.data.missing == "x"')];
      const path = await register(kind, () => ALLOWED, {
        rules: [CONFIG_MAPS],
        matchConditions,
        failurePolicy: 'Ignore',
      });
      await made('a');
      await register(kind, () => ALLOWED, { rules: [CONFIG_MAPS], matchConditions });
      await expect(made('b')).rejects.toMatchObject({
        reason: 'Forbidden',
        message: `configmaps "b" is forbidden: expression 'object.data.missing == "x"' resulted in error: no such key: data`,
      });
      expect(webhooks.asked(path)).toEqual([]);
    },
  );

  it('decide when they are false, although others fail', async () => {
    const matchConditions = [condition('object.data.missing == "x"'), condition('false', 'd')];
    const path = await register('Validating', () => ALLOWED, { rules: [CONFIG_MAPS], matchConditions });
    await made('a');
    expect(webhooks.asked(path)).toEqual([]);
  });
});
