/** The official JavaScript client: lists in pages, watches that go on, informers, patches, errors. */
import {
  ApiException,
  AppsV1Api,
  CoreV1Api,
  type Informer,
  KubeConfig,
  KubernetesObjectApi,
  makeInformer,
  PatchStrategy,
  setHeaderOptions,
  type V1ConfigMap,
  type V1Deployment,
  Watch,
} from '@kubernetes/client-node';
import { beforeAll, describe, expect, test } from 'vitest';
import { runQd } from '../program.ts';
import { onEveryStore } from '../stores.ts';

const namespace = 'default';
const path = '/api/v1/namespaces/default/configmaps';

onEveryStore((server) => {
  let config: KubeConfig;
  let core: CoreV1Api;
  let apps: AppsV1Api;
  beforeAll(() => {
    config = new KubeConfig();
    config.loadFromFile(server().kubeconfig);
    core = config.makeApiClient(CoreV1Api);
    apps = config.makeApiClient(AppsV1Api);
  });

  const map = (name: string, labels = {}): V1ConfigMap => ({ metadata: { name, labels }, data: { a: '1' } });
  const create = (name: string, labels = {}) => core.createNamespacedConfigMap({ namespace, body: map(name, labels) });

  describe('lists', () => {
    test('in pages, of one moment', async () => {
      const labels = { in: 'pages' };
      await Promise.all(['a', 'b', 'c', 'd', 'e'].map((name) => create(`page-${name}`, labels)));
      const page = (after?: string) =>
        core.listNamespacedConfigMap({ namespace, labelSelector: 'in=pages', limit: 2, _continue: after! });
      const first = await page();
      expect(first.metadata?._continue).toEqual(expect.any(String));
      await core.deleteNamespacedConfigMap({ namespace, name: 'page-e' });
      const second = await page(first.metadata?._continue);
      const third = await page(second.metadata?._continue);
      const names = [first, second, third].flatMap(({ items }) => items.map(({ metadata }) => metadata?.name));
      expect(names).toEqual(['page-a', 'page-b', 'page-c', 'page-d', 'page-e']);
      expect(third.metadata?._continue).toBeUndefined();
      expect(new Set([first, second, third].map(({ metadata }) => metadata?.resourceVersion)).size).toBe(1);
    });

    test('of the past, and what was deleted is created again', async () => {
      const created = await create('past');
      const { resourceVersion = '' } = created.metadata!;
      await core.deleteNamespacedConfigMap({ namespace, name: 'past' });
      const exactly = { resourceVersion, resourceVersionMatch: 'Exact', fieldSelector: 'metadata.name=past' };
      const then = await core.listNamespacedConfigMap({ namespace, ...exactly });
      expect(then.items.map(({ data }) => data)).toEqual([{ a: '1' }]);
      expect(then.metadata?.resourceVersion).toBe(resourceVersion);
      const { kubeconfig } = server();
      const undone = await runQd(['undo', 'cm', 'past', '--yes', '--kubeconfig', kubeconfig]);
      expect(undone).toMatchObject({ code: 0, stdout: expect.stringContaining('created again') });
      const again = await core.readNamespacedConfigMap({ namespace, name: 'past' });
      expect(again.data).toEqual({ a: '1' });
    });

    test('by fields and labels, and through the generic interface', async () => {
      const one = await core.listNamespacedConfigMap({ namespace, fieldSelector: 'metadata.name=page-a' });
      expect(one.items).toHaveLength(1);
      const generic = KubernetesObjectApi.makeApiClient(config);
      const { items } = await generic.list(
        'v1',
        'ConfigMap',
        namespace,
        undefined,
        undefined,
        undefined,
        undefined,
        'in=pages',
      );
      expect(items).toHaveLength(4);
      const read = await generic.read({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'page-a', namespace } });
      expect(read).toMatchObject({ kind: 'ConfigMap', data: { a: '1' } });
    });
  });

  describe('patches', () => {
    const send = (body: unknown, type: string) =>
      apps.patchNamespacedDeployment({ namespace, name: 'web', body }, setHeaderOptions('Content-Type', type));

    test('of every type', async () => {
      const labels = { app: 'web' };
      const containers = [{ name: 'main', image: 'nginx' }];
      const body: V1Deployment = {
        metadata: { name: 'web' },
        spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } },
      };
      await apps.createNamespacedDeployment({ namespace, body });
      const side = { spec: { template: { spec: { containers: [{ name: 'side', image: 'busybox' }] } } } };
      const merged = await send(side, PatchStrategy.StrategicMergePatch);
      expect(merged.spec?.template.spec?.containers.map(({ name }) => name)).toEqual(['side', 'main']);
      const replaced = await send(side, PatchStrategy.MergePatch);
      expect(replaced.spec?.template.spec?.containers.map(({ name }) => name)).toEqual(['side']);
      const operations = [{ op: 'replace', path: '/spec/replicas', value: 3 }];
      expect((await send(operations, PatchStrategy.JsonPatch)).spec?.replicas).toBe(3);
      expect((await apps.readNamespacedDeploymentScale({ namespace, name: 'web' })).spec?.replicas).toBe(3);
      const applied = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' }, spec: { paused: true } };
      const own = await apps.patchNamespacedDeployment(
        { namespace, name: 'web', body: applied, fieldManager: 'js' },
        setHeaderOptions('Content-Type', PatchStrategy.ServerSideApply),
      );
      expect([own.spec?.paused, own.metadata?.managedFields?.[0]?.manager]).toEqual([true, 'js']);
      const sent = { metadata: { name: 'web', namespace }, spec: { replicas: 4 } };
      await apps.replaceNamespacedDeploymentScale({ namespace, name: 'web', body: sent });
      expect((await apps.readNamespacedDeployment({ namespace, name: 'web' })).spec?.replicas).toBe(4);
    });
  });

  describe('errors', () => {
    const failure = async (promise: Promise<unknown>) => {
      const error = await promise.then(
        () => undefined,
        (reason: unknown) => reason,
      );
      expect(error).toBeInstanceOf(ApiException);
      const { code, body } = error as ApiException<string>;
      return { code, status: JSON.parse(body) };
    };

    test('come as a Status', async () => {
      expect(await failure(core.readNamespacedPod({ namespace, name: 'nope' }))).toMatchObject({
        code: 404,
        status: { kind: 'Status', reason: 'NotFound', details: { name: 'nope', kind: 'pods' } },
      });
      expect(await failure(create('page-a'))).toMatchObject({ code: 409, status: { reason: 'AlreadyExists' } });
      const body = { metadata: { name: 'Bad_Name' } };
      expect(await failure(core.createNamespacedConfigMap({ namespace, body }))).toMatchObject({
        code: 422,
        status: { reason: 'Invalid', details: { causes: [{ field: 'metadata.name', reason: 'FieldValueInvalid' }] } },
      });
      const read = await core.readNamespacedConfigMap({ namespace, name: 'page-a' });
      await core.replaceNamespacedConfigMap({ namespace, name: 'page-a', body: { ...read, data: { a: '2' } } });
      const stale = core.replaceNamespacedConfigMap({ namespace, name: 'page-a', body: { ...read, data: { a: '3' } } });
      expect(await failure(stale)).toMatchObject({ code: 409, status: { reason: 'Conflict' } });
      const again = core.listNamespacedConfigMap({ namespace, _continue: 'nonsense' });
      expect(await failure(again)).toMatchObject({ code: 400, status: { reason: 'BadRequest' } });
    });
  });

  describe('watches', () => {
    /** The first events from a version on. */
    const events = (query: Record<string, string>, count: number) =>
      new Promise<{ type: string; name: string; version: string }[]>((resolve, reject) => {
        const seen: { type: string; name: string; version: string }[] = [];
        let request: AbortController | undefined;
        const onEvent = (type: string, { metadata }: any) => {
          if (seen.length < count) seen.push({ type, name: metadata?.name, version: metadata?.resourceVersion });
          if (seen.length < count) return;
          request?.abort();
          resolve(seen);
        };
        const done = (error: unknown) => (seen.length < count ? reject(error) : undefined);
        new Watch(config).watch(path, query, onEvent, done).then((started) => {
          request = started;
          if (seen.length >= count) started.abort();
        }, reject);
      });

    test('go on where another one ended', async () => {
      const list = await core.listNamespacedConfigMap({ namespace });
      const from = list.metadata!.resourceVersion!;
      for (const name of ['w-1', 'w-2', 'w-3']) await create(name, { w: 'yes' });
      const first = await events({ resourceVersion: from, labelSelector: 'w=yes' }, 2);
      expect(first.map(({ type, name }) => `${type} ${name}`)).toEqual(['ADDED w-1', 'ADDED w-2']);
      const rest = await events({ resourceVersion: first[1]!.version, labelSelector: 'w=yes' }, 1);
      expect(rest[0]).toMatchObject({ type: 'ADDED', name: 'w-3' });
    });

    test('keep a client up to date with bookmarks', async () => {
      const query = { allowWatchBookmarks: 'true', sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan' };
      const seen = await events({ ...query, labelSelector: 'w=yes' }, 4);
      expect(seen.map(({ type }) => type)).toEqual(['ADDED', 'ADDED', 'ADDED', 'BOOKMARK']);
    });
  });

  test('informers hold what there is, and hear of what changes', async () => {
    const list = () => core.listNamespacedConfigMap({ namespace, labelSelector: 'held=yes' });
    const informer: Informer<V1ConfigMap> & { list(): readonly V1ConfigMap[] } = makeInformer(
      config,
      path,
      list,
      'held=yes',
    );
    const heard: string[] = [];
    let wake = () => {};
    for (const verb of ['add', 'update', 'delete'] as const) {
      informer.on(verb, ({ metadata }) => {
        heard.push(`${verb} ${metadata?.name}`);
        wake();
      });
    }
    const until = async (text: string) => {
      while (!heard.includes(text)) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    };
    await create('held-1', { held: 'yes' });
    await informer.start();
    await until('add held-1');
    await create('held-2', { held: 'yes' });
    await until('add held-2');
    const patch = { namespace, name: 'held-2', body: { data: { a: '2' } } };
    await core.patchNamespacedConfigMap(patch, setHeaderOptions('Content-Type', PatchStrategy.MergePatch));
    await until('update held-2');
    await core.patchNamespacedConfigMap(
      { namespace, name: 'held-2', body: { metadata: { labels: { held: 'no' } } } },
      setHeaderOptions('Content-Type', PatchStrategy.MergePatch),
    );
    await until('delete held-2');
    expect(informer.list().map(({ metadata }) => metadata?.name)).toEqual(['held-1']);
    await informer.stop();
  });
});
