/**
 * Tests a second JavaScript client, `kubernetes-client`. It has no built-in API: it makes its methods from the OpenAPI
 * document that the server publishes, so that whatever is called here was found there.
 */
import { createRequire } from 'node:module';
import { beforeAll, expect, test } from 'vitest';
import { onEveryStore } from '../stores.ts';

const require = createRequire(import.meta.url);
const { Client, KubeConfig } = require('kubernetes-client');
const Request = require('kubernetes-client/backends/request');

onEveryStore((server) => {
  let client: any;
  beforeAll(async () => {
    const kubeconfig = new KubeConfig();
    kubeconfig.loadFromFile(server().kubeconfig);
    client = await new Client({ backend: new Request({ kubeconfig }) }).loadSpec();
  });

  const labels = { app: 'web' };
  const deployment = {
    metadata: { name: 'web' },
    spec: {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'nginx' }] } },
    },
  };

  test('the schemas have every group and version', async () => {
    const { body } = await client.apis.get();
    expect(body.groups.length).toBeGreaterThan(15);
    for (const { name, versions } of body.groups) {
      for (const { version } of versions) {
        const { statusCode, body: found } = await client.apis[name][version].get();
        expect([statusCode, found.groupVersion]).toEqual([200, `${name}/${version}`]);
      }
    }
  });

  test('makes, reads, replaces, patches, scales and deletes', async () => {
    const deployments = client.apis.apps.v1.namespaces('default').deployments;
    expect((await deployments.post({ body: deployment })).body.spec.replicas).toBe(1);
    const { body } = await deployments('web').get();
    // Without its version, since a controller may have written by now.
    const { resourceVersion: _, ...metadata } = body.metadata;
    const replaced = await deployments('web').put({ body: { ...body, metadata, spec: { ...body.spec, replicas: 2 } } });
    expect(replaced.body.spec.replicas).toBe(2);
    const containers = [{ name: 'side', image: 'busybox' }];
    const patched = await deployments('web').patch({ body: { spec: { template: { spec: { containers } } } } });
    expect(patched.body.spec.template.spec.containers).toHaveLength(2);
    for (const [type, sent] of [
      ['application/merge-patch+json', { spec: { replicas: 3 } }],
      ['application/json-patch+json', [{ op: 'test', path: '/spec/replicas', value: 3 }]],
    ]) {
      const { body: shown } = await deployments('web').patch({ body: sent, headers: { 'content-type': type } });
      expect(shown.spec.replicas).toBe(3);
    }
    const scale = { metadata: { name: 'web' }, spec: { replicas: 5 } };
    expect((await deployments('web').scale.put({ body: scale })).body.spec.replicas).toBe(5);
    expect((await client.apis.extensions.v1beta1.namespaces('default').deployments('web').get()).body).toMatchObject({
      apiVersion: 'extensions/v1beta1',
      spec: { replicas: 5 },
    });
    expect((await deployments('web').delete()).body).toMatchObject({ kind: 'Status', status: 'Success' });
    await expect(deployments('web').get()).rejects.toMatchObject({
      statusCode: 404,
      message: 'deployments.apps "web" not found',
    });
  });

  test('lists in pages', async () => {
    const maps = client.api.v1.namespaces('default').configmaps;
    for (const name of ['a', 'b', 'c']) await maps.post({ body: { metadata: { name, labels: { in: 'pages' } } } });
    const names: string[] = [];
    let after: string | undefined;
    do {
      const qs = { limit: 2, labelSelector: 'in=pages', ...(after ? { continue: after } : {}) };
      const { body } = await maps.get({ qs });
      names.push(...body.items.map(({ metadata }: any) => metadata.name));
      after = body.metadata.continue;
    } while (after);
    expect(names).toEqual(['a', 'b', 'c']);
    expect((await maps.delete({ qs: { labelSelector: 'in=pages' } })).statusCode).toBe(200);
    expect((await maps.get({ qs: { labelSelector: 'in=pages' } })).body.items).toEqual([]);
  });

  test('watches', async () => {
    const maps = client.api.v1.namespaces('default').configmaps;
    const stream = await client.api.v1.watch.namespaces('default').configmaps.getObjectStream({
      qs: { labelSelector: 'seen=yes' },
    });
    const seen: string[] = [];
    const done = new Promise<void>((resolve, reject) => {
      stream.on('error', reject);
      stream.on('data', ({ type, object }: any) => {
        seen.push(`${type} ${object.metadata.name}`);
        if (type === 'DELETED') resolve();
      });
    });
    await maps.post({ body: { metadata: { name: 'seen', labels: { seen: 'yes' } } } });
    await maps('seen').patch({ body: { data: { a: '1' } } });
    await maps('seen').delete();
    await done;
    stream.destroy();
    expect(seen).toEqual(['ADDED seen', 'MODIFIED seen', 'DELETED seen']);
  });
});
