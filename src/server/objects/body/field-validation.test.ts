import { beforeEach, describe, expect, it } from 'vitest';
import { type Asked, type TestServer, testServer } from '../../../../test/support/server.ts';
import { type Call, RequestNotes } from '../../../api/call.ts';
import { Deployment } from '../../../kinds/groups/apps/deployment.ts';
import { ConfigMap } from '../../../kinds/groups/core/configuration/config-map.ts';
import { Namespace } from '../../../kinds/groups/core/namespace.ts';
import { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import { reportBodyFaults } from './field-validation.ts';

let api: TestServer;
beforeEach(async () => {
  api = await testServer([ConfigMap, Namespace, Pod, Deployment]);
});

const STRICT = { fieldValidation: 'Strict' };

async function warningsOf(verb: Call['verb'], plural: string, asked: Asked): Promise<readonly string[] | undefined> {
  return (await api.notes(verb, plural, asked)).warnings;
}

const pod = () => ({
  metadata: { name: 'p', lables: {} },
  spec: { containers: [{ name: 'c', image: 'i', imag: 'j', env: [{ name: 'A', vaule: 'b' }] }], foo: { bar: 1 } },
});
const UNKNOWN = [
  'unknown field "metadata.lables"',
  'unknown field "spec.containers[0].imag"',
  'unknown field "spec.containers[0].env[0].vaule"',
  'unknown field "spec.foo"',
];

describe('a body', () => {
  it('causes warnings by default', async () => {
    expect(await warningsOf('create', 'pods', { body: pod() })).toEqual(UNKNOWN);
    expect((await api.get('pods', 'p')).spec.foo).toBeUndefined();
    const options = { fieldValidation: 'Warn' };
    expect(await warningsOf('update', 'pods', { name: 'p', body: pod(), options })).toEqual(UNKNOWN);
  });

  it('has its unknown fields dropped silently with Ignore', async () => {
    const options = { fieldValidation: 'Ignore' };
    expect(await warningsOf('create', 'pods', { body: pod(), options, duplicates: ['spec'] })).toBeUndefined();
  });

  it('is rejected with Strict', async () => {
    const duplicates = ['spec.containers[0].image'];
    const [labels, imag, ...rest] = UNKNOWN;
    const faults = [labels, 'duplicate field "spec.containers[0].image"', imag, ...rest].join(', ');
    await expect(api.create('pods', pod(), { options: STRICT, duplicates })).rejects.toMatchObject({
      code: 400,
      reason: 'BadRequest',
      message: `Pod in version "v1" cannot be handled as a Pod: strict decoding error: ${faults}`,
    });
    await expect(api.get('pods', 'p')).rejects.toMatchObject({ code: 404 });
  });

  it('has its faults reported in order, and duplicates of unknown fields once', async () => {
    const body = { metadata: { name: 'm' }, nope: { x: 1 }, data: { a: '2' }, data2: {} };
    expect(await warningsOf('create', 'configmaps', { body, duplicates: ['nope', 'nope.x', 'data.a'] })).toEqual([
      'unknown field "nope"',
      'duplicate field "data.a"',
      'unknown field "data2"',
    ]);
  });

  it('causes no warnings when it is valid', async () => {
    const body = { metadata: { name: 'm', managedFields: [] }, data: { anything: 'goes' } };
    expect(await warningsOf('create', 'configmaps', { body, options: STRICT })).toBeUndefined();
  });

  it('is checked for a subresource, too', async () => {
    await api.create('pods', { ...pod(), metadata: { name: 'p' } });
    const body = { metadata: { name: 'p' }, target: { name: 'n' }, tarket: {} };
    const asked = { name: 'p', subresource: 'binding', body };
    expect(await warningsOf('create', 'pods', asked)).toEqual(['unknown field "tarket"']);
  });
});

describe('a patch', () => {
  beforeEach(() => api.create('pods', { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } }));

  const patches = {
    merge: { spec: { foo: 1 } },
    strategic: { spec: { foo: 1 } },
    json: [{ op: 'add', path: '/spec/foo', value: 1 }],
  } as const;

  it.each(['merge', 'strategic', 'json'] as const)('causes warnings for type %s', async (patchType) => {
    const asked = { name: 'p', patchType, body: patches[patchType] };
    expect(await warningsOf('patch', 'pods', asked)).toEqual(['unknown field "spec.foo"']);
    const options = { fieldValidation: 'Ignore' };
    expect(await warningsOf('patch', 'pods', { ...asked, options })).toBeUndefined();
  });

  it.each(['merge', 'strategic', 'json'] as const)('is rejected with Strict for type %s', async (patchType) => {
    const rejected = api.patch('pods', 'p', patches[patchType], { patchType, options: STRICT });
    await expect(rejected).rejects.toMatchObject({
      code: 422,
      reason: 'Invalid',
      message: expect.stringMatching(/^ "" is invalid: patch: Invalid value: ".*": strict decoding error: unknown /),
    });
  });

  it('reports duplicate fields, and unknown fields of operations', async () => {
    const merge = { name: 'p', patchType: 'merge', body: { spec: {} }, duplicates: ['spec'] } as const;
    expect(await warningsOf('patch', 'pods', merge)).toEqual(['duplicate field "spec"']);
    const body = [{ op: 'test', path: '/kind', value: 'Pod', comment: 'is it?' }];
    const json = { name: 'p', patchType: 'json', body, duplicates: ['[0].op'] } as const;
    expect(await warningsOf('patch', 'pods', json)).toEqual([
      'json patch unknown field "[0].comment"',
      'json patch duplicate field "[0].op"',
    ]);
  });

  it('has duplicate keys of a configuration reported as by a YAML parser', async () => {
    const body = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' } };
    const duplicates = ['line 3: key "name" already set in map'];
    const applied = { name: 'p', patchType: 'apply', body, duplicates } as const;
    expect(await warningsOf('patch', 'pods', { ...applied, options: { fieldManager: 'me' } })).toEqual(duplicates);
    const strict = { fieldManager: 'me', fieldValidation: 'Strict' };
    await expect(warningsOf('patch', 'pods', { ...applied, options: strict })).rejects.toMatchObject({
      reason: 'BadRequest',
      message:
        'error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n  line 3: key "name" already set in map',
    });
  });

  it('causes no warnings in an older version about fields that only the stored version has', async () => {
    const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
    const body = { metadata: { name: 'd' }, spec: { selector: { matchLabels: { a: 'b' } }, template } };
    await api.create('deployments', body, { apiVersion: 'apps/v1' });
    for (const { apiVersion, deprecated } of Deployment.versions) {
      const asked = { apiVersion, name: 'd', patchType: 'merge', body: { metadata: { labels: { v: 'x' } } } } as const;
      const warnings = await warningsOf('patch', 'deployments', asked);
      expect(warnings).toEqual(deprecated ? [deprecated] : undefined);
    }
  });
});

it.each(['create', 'update', 'patch'] as const)('%s rejects unknown values of fieldValidation', async (verb) => {
  const asked = { name: 'p', body: {}, patchType: 'merge', options: { fieldValidation: 'strict' } } as const;
  const kind = `${verb[0]!.toUpperCase()}${verb.slice(1)}Options`;
  await expect(warningsOf(verb, 'pods', asked)).rejects.toMatchObject({
    code: 422,
    message: `${kind}.meta.k8s.io "" is invalid: fieldValidation: Unsupported value: "strict": supported values: "", "Ignore", "Strict", "Warn"`,
  });
});

it('reports faults of a body with many long paths in linear time', () => {
  const long = 'x'.repeat(1_400_000);
  const body = { [long]: Array.from({ length: 70_000 }, () => ({ a: 1 })), metadata: {} };
  const call = { verb: 'create', body, duplicates: ['metadata'], options: { fieldValidation: 'Strict' } } as const;
  const expected = { kind: 'Pod', apiVersion: 'v1' };
  expect(() => reportBodyFaults({ call, notes: new RequestNotes() }, [long], expected)).toThrow('duplicate field');
  const cut = { ...call, duplicates: [`${long.slice(0, 2_000)}…`] };
  expect(() => reportBodyFaults({ call: cut, notes: new RequestNotes() }, [long], expected)).not.toThrow('duplicate');
});
