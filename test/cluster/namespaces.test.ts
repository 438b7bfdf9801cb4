import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isApiError } from '../../src/api/errors.ts';
import type { KindRef } from '../../src/api/object-types.ts';
import { Deployment } from '../../src/kinds/groups/apps/deployment.ts';
import { ConfigMap } from '../../src/kinds/groups/core/configuration/config-map.ts';
import { Secret } from '../../src/kinds/groups/core/configuration/secret.ts';
import { Event } from '../../src/kinds/groups/core/event/event.ts';
import { Namespace } from '../../src/kinds/groups/core/namespace.ts';
import { Pod } from '../../src/kinds/groups/core/pod/pod.ts';
import { Service } from '../../src/kinds/groups/core/service/service.ts';
import { defineKind } from '../../src/kinds/kind.ts';
import { s } from '../../src/schema/builders.ts';
import { type Cluster, startCluster } from '../support/cluster/cluster.ts';

let cluster: Cluster;
beforeEach(async () => {
  cluster = await startCluster();
});
afterEach(() => cluster.stop());

async function exists(kind: KindRef, name: string, namespace?: string): Promise<boolean> {
  try {
    await cluster.client.of(kind).in(namespace).get(name);
    return true;
  } catch (error) {
    if (isApiError(error, 'NotFound')) return false;
    throw error;
  }
}

const isGone = (name: string) => async () => !(await exists(Namespace, name));

async function makeNamespace(name: string): Promise<void> {
  await cluster.client.of(Namespace).create({ metadata: { name } });
  // The controllers have created the objects that every namespace has.
  await cluster.eventually(async () => {
    const secrets = await cluster.client.of(Secret).in(name).list();
    return secrets.items.length > 0 && (await exists(ConfigMap, 'kube-root-ca.crt', name));
  });
}

const pod = (name: string, fields: object = {}) => ({
  metadata: { name, namespace: 'doomed', ...fields },
  spec: { containers: [{ name: 'c', image: 'nginx' }] },
});

async function conditions(): Promise<Record<string, string>> {
  const { status } = await cluster.client.of(Namespace).get('doomed');
  return Object.fromEntries(
    (status.conditions ?? []).map(({ type, status: is, message }) => [type, `${is}: ${message}`]),
  );
}

describe('a namespace that is deleted', () => {
  beforeEach(() => makeNamespace('doomed'));

  it('is deleted with everything inside, and nothing else', async () => {
    const { client } = cluster;
    await makeNamespace('kept');
    for (const namespace of ['doomed', 'kept']) {
      await client.of(ConfigMap).create({ metadata: { name: 'config', namespace }, data: { a: 'b' } });
      await client.of(Service).create({ metadata: { name: 'web', namespace }, spec: { ports: [{ port: 80 }] } });
      await client.of(Deployment).create({
        metadata: { name: 'web', namespace },
        spec: {
          selector: { matchLabels: { app: 'web' } },
          template: {
            metadata: { labels: { app: 'web' } },
            spec: { containers: [{ name: 'c', image: 'nginx' }] },
          },
        },
      });
      const involvedObject = { kind: 'Pod', namespace, name: 'p' };
      await client.of(Event).create({ metadata: { name: 'event', namespace }, involvedObject });
    }
    await client.of(Namespace).delete('doomed');
    await cluster.eventually(isGone('doomed'));
    for (const kind of cluster.server.registry.kinds) {
      if (kind.scope !== 'Namespaced' || kind.verbs?.includes('list') === false) continue;
      const left = await client.of(kind).in('doomed').list();
      expect(left.items, kind.kind).toEqual([]);
    }
    for (const kind of [ConfigMap, Service, Deployment, Event]) {
      expect(
        (
          await client
            .of(kind as KindRef)
            .in('kept')
            .list()
        ).items.length,
      ).toBeGreaterThan(0);
    }
    expect(cluster.complaints).toEqual([]);
  });

  it('lets pods end first, with their grace period, and reports that it waits for them', async () => {
    const { client } = cluster;
    await client.of(Pod).create(pod('a'));
    await client.of(Pod).create(pod('b'));
    // Bound pods end only when their node reports that.
    for (const name of ['a', 'b']) {
      await client
        .of(Pod)
        .in('doomed')
        .subresource(name, 'binding')
        .create({ target: { kind: 'Node', name: 'n' } });
    }
    await client.of(Namespace).delete('doomed');
    const remains = 'True: Some resources are remaining: pods. has 2 resource instances';
    await cluster.eventually(async () => (await conditions()).NamespaceContentRemaining === remains);
    const waiting = await client.of(Pod).in('doomed').get('a');
    expect(waiting.metadata.deletionGracePeriodSeconds).toBe(30);
    expect(await exists(ConfigMap, 'kube-root-ca.crt', 'doomed')).toBe(true);

    const requests = await countingWrites(() => cluster.clock.advance(30_000));
    expect(requests).toBe(0);

    await client.of(Pod).in('doomed').delete('a', { gracePeriodSeconds: 0 });
    const fewer = 'True: Some resources are remaining: pods. has 1 resource instances';
    await cluster.eventually(async () => (await conditions()).NamespaceContentRemaining === fewer);
    await client.of(Pod).in('doomed').delete('b', { gracePeriodSeconds: 0 });
    await cluster.eventually(isGone('doomed'));
  });

  it('waits for finalizers, and reports which', async () => {
    const { client, clock } = cluster;
    const held = { metadata: { name: 'held', namespace: 'doomed', finalizers: ['example.com/hold'] } };
    await client.of(ConfigMap).create(held);
    await client.of(Namespace).delete('doomed');
    const remains = 'True: Some resources are remaining: configmaps. has 1 resource instances';
    await cluster.eventually(async () => (await conditions()).NamespaceContentRemaining === remains);
    expect(await conditions()).toEqual({
      NamespaceDeletionDiscoveryFailure: 'False: All resources successfully discovered',
      NamespaceDeletionGroupVersionParsingFailure: 'False: All legacy kube types successfully parsed',
      NamespaceDeletionContentFailure: 'False: All content successfully deleted, may be waiting on finalization',
      NamespaceContentRemaining: remains,
      NamespaceFinalizersRemaining:
        'True: Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances',
    });
    const before = await client.of(Namespace).get('doomed');
    expect(before.status.phase).toBe('Terminating');
    await clock.advance(3_600_000);
    expect((await client.of(Namespace).get('doomed')).metadata.resourceVersion).toBe(before.metadata.resourceVersion);

    await client
      .of(ConfigMap)
      .in('doomed')
      .patch('held', { type: 'merge', changes: { metadata: { finalizers: null } } });
    await cluster.eventually(isGone('doomed'));
  });

  it('accepts no new objects', async () => {
    const { client } = cluster;
    const held = { metadata: { name: 'held', namespace: 'doomed', finalizers: ['example.com/hold'] } };
    await client.of(ConfigMap).create(held);
    await client.of(Namespace).delete('doomed');
    await expect(
      client.of(ConfigMap).create({ metadata: { name: 'late', namespace: 'doomed' } }),
    ).rejects.toMatchObject({
      reason: 'Forbidden',
    });
    await cluster.clock.advance(60_000);
    const names = (await client.of(ConfigMap).in('doomed').list()).items.map(({ metadata }) => metadata.name);
    expect(names).toEqual(['held']);
    expect(await client.of(Secret).in('doomed').list()).toMatchObject({ items: [] });
  });

  it('keeps an empty namespace with a foreign finalizer', async () => {
    const { client } = cluster;
    const old = await client.of(Namespace).get('doomed');
    const finalizers = [...(old.spec.finalizers ?? []), 'example.com/backup'];
    await client
      .of(Namespace)
      .subresource('doomed', 'finalize')
      .update({ ...old, spec: { finalizers } });
    await client.of(Namespace).delete('doomed');
    await cluster.eventually(async () => {
      const { spec } = await client.of(Namespace).get('doomed');
      return !spec.finalizers?.includes('kubernetes');
    });
    expect((await client.of(Secret).in('doomed').list()).items).toEqual([]);
    expect((await conditions()).NamespaceContentRemaining).toBe('False: All content successfully removed');
    const last = await client.of(Namespace).get('doomed');
    expect(last.spec.finalizers).toEqual(['example.com/backup']);
    await client
      .of(Namespace)
      .subresource('doomed', 'finalize')
      .update({ ...last, spec: { finalizers: [] } });
    await cluster.eventually(isGone('doomed'));
  });

  it('empties it of kinds that were added at run time, also without deletecollection', async () => {
    const { client, server } = cluster;
    const Widget = defineKind({
      kind: 'Widget',
      scope: 'Namespaced',
      description: 'A kind that came later.',
      versions: { 'example.com/v1': {} },
      fields: { spec: s.object('WidgetSpec', { size: s.int32() }) },
      verbs: ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'],
    });
    server.registry.add(Widget);
    await client.of(Widget).create({ metadata: { name: 'w1', namespace: 'doomed' } });
    await client.of(Widget).create({ metadata: { name: 'w2', namespace: 'doomed', finalizers: ['example.com/hold'] } });
    await client.of(Namespace).delete('doomed');
    const remains = 'True: Some resources are remaining: widgets.example.com has 1 resource instances';
    await cluster.eventually(async () => (await conditions()).NamespaceContentRemaining === remains);
    await client
      .of(Widget)
      .in('doomed')
      .patch('w2', { type: 'merge', changes: { metadata: { finalizers: null } } });
    await cluster.eventually(isGone('doomed'));
  });

  it('stays while it has objects of kinds that the server does not know', async () => {
    const { client, server } = cluster;
    const Boat = defineKind({
      kind: 'Boat',
      scope: 'Namespaced',
      description: 'A kind of a later release.',
      versions: { 'later.example.com/v1': {} },
      fields: { spec: s.object('BoatSpec', { size: s.int32() }) },
      verbs: ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'],
    });
    server.registry.add(Boat);
    await client.of(Boat).create({ metadata: { name: 'b1', namespace: 'doomed' } });
    server.registry.remove(Boat);
    await client.of(Namespace).delete('doomed');
    const unknown = 'boats.later.example.com has 1 resource instances, of a kind that this server does not know';
    const failure = `True: Failed to delete all resource types, 1 remaining: ${unknown}`;
    await cluster.eventually(async () => (await conditions()).NamespaceDeletionContentFailure === failure);
    const namespace = await client.of(Namespace).get('doomed');
    const emptied = { ...namespace, spec: { finalizers: [] } };
    const finalizing = client.of(Namespace).subresource('doomed', 'finalize').update(emptied);
    await expect(finalizing).rejects.toMatchObject({
      reason: 'Conflict',
      message: `namespace "doomed" cannot be finalized: ${unknown}; finalize it over a server of the release that stored them`,
    });
    await cluster.clock.advance(60_000);
    expect(await exists(Namespace, 'doomed')).toBe(true);
    server.registry.add(Boat);
    await cluster.eventually(isGone('doomed'));
    expect((await client.of(Boat).in('doomed').list()).items).toEqual([]);
  });

  it('continues after the controllers were disconnected', async () => {
    const { client, link } = cluster;
    const held = { metadata: { name: 'held', namespace: 'doomed', finalizers: ['example.com/hold'] } };
    await client.of(ConfigMap).create(held);
    link.cut();
    await client.of(Namespace).delete('doomed');
    await cluster.clock.advance(120_000);
    expect(await exists(ConfigMap, 'kube-root-ca.crt', 'doomed')).toBe(true);
    link.mend();
    const remains = 'True: Some resources are remaining: configmaps. has 1 resource instances';
    await cluster.clock.advance(30_000);
    await cluster.eventually(async () => (await conditions()).NamespaceContentRemaining === remains);
    link.cut();
    await client
      .of(ConfigMap)
      .in('doomed')
      .patch('held', { type: 'merge', changes: { metadata: { finalizers: null } } });
    await cluster.clock.advance(60_000);
    expect(await exists(Namespace, 'doomed')).toBe(true);
    link.mend();
    await cluster.clock.advance(60_000);
    await cluster.eventually(isGone('doomed'));
  });
});

/** Counts the store's revisions while `work` runs. */
async function countingWrites(work: () => Promise<void>): Promise<number> {
  const revision = async () => Number((await cluster.client.of(Namespace).list()).metadata.resourceVersion);
  const before = await revision();
  await work();
  return (await revision()) - before;
}
