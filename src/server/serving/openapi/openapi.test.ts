import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { isShared } from '../../../base/bytes/shared-buffer.ts';
import { allKinds } from '../../../kinds/all.ts';
import { customKind } from '../../../kinds/custom/custom-kind.ts';
import { CronJob } from '../../../kinds/groups/batch/cron-job.ts';
import { Job } from '../../../kinds/groups/batch/job.ts';
import { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import { defineKind } from '../../../kinds/kind.ts';
import { s } from '../../../schema/builders.ts';
import { Registry } from '../../objects/registry/registry.ts';
import { allSubresources } from '../../operations/subresources/all.ts';
import { BackendRegistry } from '../backends/backend-registry.ts';
import { OpenApi } from './openapi.ts';

const PROTOBUF = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';

const Backup = defineKind({
  kind: 'Backup',
  scope: 'Namespaced',
  description: 'A copy of something.',
  versions: { 'stable.example.com/v1': {} },
  fields: {
    spec: s.object('BackupSpec', {
      every: s.duration('How often.'),
      kept: s.enum(['All', 'Last'], { default: 'Last' }),
      keys: s.listMap(s.object('Key', { name: s.string({ required: true }), size: s.quantity() }), { keys: ['name'] }),
      port: s.intOrString(),
      raw: s.any(),
      tags: s.map(s.string(), { atomic: true }),
    }),
  },
});

async function read(openApi: OpenApi, path: string): Promise<any> {
  const document = await openApi.document(path, undefined);
  return document && JSON.parse(String(document.body));
}

it('keeps a large document, compressed or not, in memory that the front thread can read', async () => {
  const openApi = new OpenApi(new BackendRegistry(new Registry(allKinds, allSubresources)));
  for (const type of [undefined, PROTOBUF]) {
    const document = await openApi.document('/openapi/v2', type);
    expect(isShared(document!.body)).toBe(true);
    const compressed = await document!.gzip();
    expect(isShared(compressed)).toBe(compressed.length >= 128 * 1024);
    expect(gunzipSync(compressed).equals(document!.body)).toBe(true);
  }
});

it('builds the document of all groups in many turns of the event loop', async () => {
  const backends = new BackendRegistry(new Registry(allKinds, allSubresources));
  // Loads the code that describes kinds first.
  await Promise.all(backends.all().map((backend) => backend.schemas()));
  let turns = 0;
  let isBuilt = false;
  const count = () => {
    turns++;
    if (!isBuilt) setImmediate(count);
  };
  setImmediate(count);
  await new OpenApi(backends).document('/openapi/v2', undefined);
  isBuilt = true;
  expect(turns).toBeGreaterThanOrEqual(backends.all().length);
});

describe('OpenAPI 2', () => {
  it('describes the fields of a kind, built-in or not', async () => {
    const { definitions } = await read(new OpenApi(new BackendRegistry(new Registry([Backup]))), '/openapi/v2');
    expect(definitions['com.example.stable.v1.Backup']).toMatchObject({
      description: 'A copy of something.',
      properties: { spec: { $ref: '#/definitions/com.example.stable.v1.BackupSpec' } },
      'x-kubernetes-group-version-kind': [{ group: 'stable.example.com', kind: 'Backup', version: 'v1' }],
    });
    expect(definitions['com.example.stable.v1.BackupSpec']).toEqual({
      type: 'object',
      properties: {
        every: { $ref: '#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.Duration', description: 'How often.' },
        kept: { type: 'string' },
        keys: {
          type: 'array',
          items: { $ref: '#/definitions/com.example.stable.v1.Key' },
          'x-kubernetes-list-map-keys': ['name'],
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-patch-merge-key': 'name',
          'x-kubernetes-patch-strategy': 'merge',
        },
        port: { $ref: '#/definitions/io.k8s.apimachinery.pkg.util.intstr.IntOrString' },
        raw: { $ref: '#/definitions/io.k8s.apimachinery.pkg.runtime.RawExtension' },
        tags: { type: 'object', additionalProperties: { type: 'string' }, 'x-kubernetes-map-type': 'atomic' },
      },
    });
    expect(definitions['com.example.stable.v1.Key'].required).toEqual(['name']);
  });

  it('publishes a shape in the package of its home', async () => {
    const { definitions } = await read(
      new OpenApi(new BackendRegistry(new Registry([CronJob, Job, Pod], allSubresources))),
      '/openapi/v2',
    );
    const names = Object.keys(definitions).filter((name) =>
      /\.(?:Job(?:Template)?Spec|PodTemplateSpec|PodSpec)$/.test(name),
    );
    const older = CronJob.versions.slice(1).map(({ version }) => `io.k8s.api.batch.${version}.JobTemplateSpec`);
    expect(names).toEqual(
      expect.arrayContaining([
        'io.k8s.api.batch.v1.JobSpec',
        'io.k8s.api.batch.v1.JobTemplateSpec',
        'io.k8s.api.core.v1.PodSpec',
        ...older,
      ]),
    );
    expect(names.filter((name) => name.endsWith('.JobSpec'))).toHaveLength(1);
  });

  it('has no dangling references', async () => {
    const openApi = new OpenApi(new BackendRegistry(new Registry(allKinds, allSubresources)));
    const text = String((await openApi.document('/openapi/v2', undefined))?.body);
    const { definitions, parameters } = JSON.parse(text);
    const known = new Set([
      ...Object.keys(definitions).map((name) => `#/definitions/${name}`),
      ...Object.keys(parameters).map((name) => `#/parameters/${name}`),
    ]);
    const used = new Set([...text.matchAll(/"\$ref":"([^"]+)"/g)].map(([, target]) => target!));
    expect([...used].filter((target) => !known.has(target))).toEqual([]);
  });

  it('gives every operation a unique name', async () => {
    const { paths } = await read(
      new OpenApi(new BackendRegistry(new Registry(allKinds, allSubresources))),
      '/openapi/v2',
    );
    const ids = Object.values<any>(paths).flatMap(({ parameters: _, ...operations }) =>
      Object.values<any>(operations).map(({ operationId }) => operationId),
    );
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
  });

  it('names every method that the proxy forwards', async () => {
    const { paths } = await read(
      new OpenApi(new BackendRegistry(new Registry(allKinds, allSubresources))),
      '/openapi/v2',
    );
    const { parameters: _, ...operations } = paths['/api/v1/namespaces/{namespace}/pods/{name}/proxy/{path}'];
    const methods = ['delete', 'get', 'head', 'options', 'patch', 'post', 'put'];
    expect(Object.keys(operations).sort()).toEqual(methods);
    expect(operations.head.operationId).toBe('connectCoreV1HeadNamespacedPodProxyWithPath');
  });

  it.each([
    [undefined, 'application/json'],
    ['*/*', 'application/json'],
    ['application/json', 'application/json'],
    ['application/com.github.proto-openapi.spec.v2@v1.0+protobuf', PROTOBUF],
    [PROTOBUF, PROTOBUF],
    ['application/com.github.googleapis.gnostic.OpenAPIv2+protobuf', PROTOBUF],
    [`${PROTOBUF};q=0.4, application/json;q=0.9`, 'application/json'],
    ['text/html, application/*;q=0.1', 'application/json'],
  ])('responds to Accept: %s with %s', async (accept, type) => {
    const document = await new OpenApi(new BackendRegistry(new Registry([Backup]))).document('/openapi/v2', accept);
    expect(document?.contentType).toBe(type);
  });

  it('rejects other forms', async () => {
    const document = new OpenApi(new BackendRegistry(new Registry([Backup]))).document('/openapi/v2', 'text/html');
    await expect(document).rejects.toMatchObject({ reason: 'NotAcceptable' });
  });

  it('is also served at the path of the oldest clients', async () => {
    const openApi = new OpenApi(new BackendRegistry(new Registry([Backup])));
    expect(await openApi.document('/swagger.json', undefined)).toBe(await openApi.document('/openapi/v2', undefined));
    expect((await openApi.document('/swagger-2.0.0.pb-v1', undefined))?.contentType).toBe(PROTOBUF);
  });
});

describe('OpenAPI 3', () => {
  it('lists the documents by group and version, each with the hash of its content', async () => {
    const openApi = new OpenApi(new BackendRegistry(new Registry([Backup, Pod], allSubresources)));
    const { paths } = await read(openApi, '/openapi/v3');
    expect(Object.keys(paths)).toEqual(['apis/stable.example.com/v1', 'api/v1']);
    for (const [root, { serverRelativeURL }] of Object.entries<any>(paths)) {
      const document = await openApi.document(`/openapi/v3/${root}`, undefined);
      expect(serverRelativeURL).toBe(`/openapi/v3/${root}?hash=${document?.etag}`);
    }
  });

  it('includes defaults and enumerations, and wraps a reference with sibling keywords', async () => {
    const openApi = new OpenApi(new BackendRegistry(new Registry([Backup])));
    const { components } = await read(openApi, '/openapi/v3/apis/stable.example.com/v1');
    const { kept, every } = components.schemas['com.example.stable.v1.BackupSpec'].properties;
    expect(kept).toEqual({ type: 'string', enum: ['All', 'Last'], default: 'Last' });
    const duration = '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.Duration';
    expect(every).toEqual({ allOf: [{ $ref: duration }], description: 'How often.' });
  });

  it('describes a shape itself, whatever its uses are described as', async () => {
    const Window = s.object('Window', 'An hour of the day.', { hour: s.int32() });
    const Shift = defineKind({
      kind: 'Shift',
      scope: 'Namespaced',
      description: 'Some work.',
      versions: { 'stable.example.com/v1': {} },
      fields: {
        start: s.use(Window, 'When it starts.'),
        end: s.use(Window, 'When it ends.'),
      },
    });
    const openApi = new OpenApi(new BackendRegistry(new Registry([Shift])));
    const { components } = await read(openApi, '/openapi/v3/apis/stable.example.com/v1');
    expect(components.schemas['com.example.stable.v1.Window'].description).toBe('An hour of the day.');
    const { end } = components.schemas['com.example.stable.v1.Shift'].properties;
    expect(end.description).toBe('When it ends.');
  });

  it('describes a shape only at its fields if all of them have the same description', async () => {
    const openApi = new OpenApi(new BackendRegistry(new Registry(allKinds, allSubresources)));
    const { components } = await read(openApi, '/openapi/v3/apis/apps/v1');
    const { spec } = components.schemas['io.k8s.api.apps.v1.Deployment'].properties;
    expect(spec.description).toBe('Desired state of the Deployment.');
    expect(components.schemas['io.k8s.api.apps.v1.DeploymentSpec']).not.toHaveProperty('description');
    // The description of a list does not apply to its elements.
    expect(components.schemas['io.k8s.api.apps.v1.DeploymentCondition'].description).toEqual(expect.any(String));
  });

  it('includes in each document exactly the definitions it refers to', async () => {
    const registry = new Registry(allKinds, allSubresources);
    const openApi = new OpenApi(new BackendRegistry(registry));
    const text = String((await openApi.document('/openapi/v3/apis/apps/v1', undefined))?.body);
    const known = new Set(Object.keys(JSON.parse(text).components.schemas));
    const used = [...text.matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)].map(([, target]) => target!);
    expect(used.filter((target) => !known.has(target))).toEqual([]);
    expect(known).toContain('io.k8s.api.core.v1.PodSpec');
    expect(known).not.toContain('io.k8s.api.core.v1.Service');
  });
});

describe('Swagger 1.2', () => {
  it('lists its declarations', async () => {
    const listing = await read(
      new OpenApi(new BackendRegistry(new Registry([Backup, Pod], allSubresources))),
      '/swaggerapi',
    );
    expect(listing.swaggerVersion).toBe('1.2');
    expect(listing.apis.map(({ path }: any) => path)).toEqual(['/api/v1', '/apis/stable.example.com/v1']);
  });

  it('has a model of each object, by version and kind', async () => {
    const { models, apis, apiVersion } = await read(
      new OpenApi(new BackendRegistry(new Registry(allKinds, allSubresources))),
      '/swaggerapi/apis/apps/v1beta1',
    );
    expect(apiVersion).toBe('apps/v1beta1');
    expect(models['v1beta1.Deployment'].properties.spec).toMatchObject({ $ref: 'v1beta1.DeploymentSpec' });
    expect(models['v1beta1.DeploymentSpec'].properties).toMatchObject({
      replicas: { type: 'integer', format: 'int32' },
      template: { $ref: 'v1.PodTemplateSpec' },
    });
    expect(models['v1.Container'].properties).toMatchObject({
      ports: { type: 'array', items: { $ref: 'v1.ContainerPort' } },
      resources: { $ref: 'v1.ResourceRequirements' },
    });
    expect(models['v1.ResourceRequirements'].properties.limits).toMatchObject({ type: 'object' });
    const create = apis
      .find(({ path }: any) => path === '/apis/apps/v1beta1/namespaces/{namespace}/deployments')
      .operations.find(({ method }: any) => method === 'POST');
    expect(create).toMatchObject({ type: 'v1beta1.Deployment' });
  });

  it('has every model that it names', async () => {
    const registry = new Registry(allKinds, allSubresources);
    const openApi = new OpenApi(new BackendRegistry(registry));
    for (const apiVersion of registry.apiVersions) {
      const path = apiVersion.includes('/') ? `apis/${apiVersion}` : `api/${apiVersion}`;
      const { models } = await read(openApi, `/swaggerapi/${path}`);
      const used = [...JSON.stringify(models).matchAll(/"\$ref":"([^"]+)"/g)].map(([, target]) => target!);
      expect(used.filter((name) => !models[name])).toEqual([]);
    }
  });
});

it('lists the selectable fields of custom kinds, and only those', async () => {
  const spec: any = {
    ...{ group: 'stable.example.com', scope: 'Namespaced', conversion: { strategy: 'None' } },
    names: { plural: 'tabs', singular: 'tab', kind: 'Tab', listKind: 'TabList' },
    versions: [
      {
        ...{ name: 'v1', served: true, storage: true, selectableFields: [{ jsonPath: '.spec.image' }] },
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: { spec: { type: 'object', properties: { image: { type: 'string' } } } },
          },
        },
      },
    ],
  };
  const kind = customKind(spec, { definition: () => ({ spec }), names: spec.names });
  const openApi = new OpenApi(new BackendRegistry(new Registry([kind, Backup])));
  const fields = { 'x-kubernetes-selectable-fields': [{ fieldPath: 'spec.image' }] };
  for (const path of ['/openapi/v2', '/openapi/v3/apis/stable.example.com/v1']) {
    const { definitions, components } = await read(openApi, path);
    const shapes = definitions ?? components.schemas;
    expect(shapes['com.example.stable.v1.Tab']).toMatchObject(fields);
    expect(shapes['com.example.stable.v1.TabList']).toMatchObject(fields);
    expect(shapes['com.example.stable.v1.BackupList']).not.toHaveProperty(['x-kubernetes-selectable-fields']);
  }
});

describe('documents', () => {
  it('are built once, even for concurrent requests', async () => {
    const openApi = new OpenApi(new BackendRegistry(new Registry([Backup])));
    const [first, second] = await Promise.all(['', ''].map(() => openApi.document('/openapi/v2', undefined)));
    expect(second).toBe(first);
  });

  it('change when the kinds do, and have the same ETag when they are the same again', async () => {
    const registry = new Registry([Pod], allSubresources);
    const openApi = new OpenApi(new BackendRegistry(registry));
    const before = await openApi.document('/openapi/v2', undefined);
    registry.add(Backup);
    const during = await openApi.document('/openapi/v2', undefined);
    expect(String(during?.body)).toContain('com.example.stable.v1.Backup');
    expect(during?.etag).not.toBe(before?.etag);
    registry.remove(Backup);
    expect((await openApi.document('/openapi/v2', undefined))?.etag).toBe(before?.etag);
  });

  it('are compressed once', async () => {
    const document = await new OpenApi(new BackendRegistry(new Registry([Backup]))).document('/openapi/v2', undefined);
    const smaller = await document?.gzip();
    expect(gunzipSync(smaller!).equals(document!.body)).toBe(true);
    expect(await document?.gzip()).toBe(smaller);
  });

  it.each(['/openapi', '/openapi/v4', '/openapi/v3/apis/none.example.com/v1', '/openapi/v3/api', '/swaggerapi/apis'])(
    'there is none at %s',
    async (path) => {
      expect(await new OpenApi(new BackendRegistry(new Registry([Backup]))).document(path, undefined)).toBeUndefined();
    },
  );
});
