import { describe, expect, it } from 'vitest';
import { podNamed } from '../../../../test/support/admission.ts';
import { testServer } from '../../../../test/support/server.ts';
import { RequestNotes } from '../../../api/call.ts';
import { ApiError } from '../../../api/errors.ts';
import { ConfigMap } from '../../../kinds/groups/core/configuration/config-map.ts';
import { Secret } from '../../../kinds/groups/core/configuration/secret.ts';
import { Namespace } from '../../../kinds/groups/core/namespace.ts';
import { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import { admissionPlugins } from './all.ts';
import { admissionPluginNames } from './names.ts';
import type { AdmissionPlugin } from './plugin.ts';
import { namespaceLifecycle } from './plugins/namespace-lifecycle/namespace-lifecycle.ts';

const kinds = [Namespace, ConfigMap, Secret];

function noting(name: string, told: string[], more: Partial<AdmissionPlugin> = {}): AdmissionPlugin {
  return {
    name,
    handles: (kind) => kind === ConfigMap,
    admit: (_, { operation }) => void told.push(`${name} admits ${operation}`),
    validate: (_, { operation }) => void told.push(`${name} validates ${operation}`),
    ...more,
  };
}

describe('the chain', () => {
  it('runs every plugin in order, first to mutate and then to validate', async () => {
    const told: string[] = [];
    const slow = noting('b', told, {
      admit: async (_, { object }) => {
        await Promise.resolve();
        told.push('b admits later');
        (object as any).data = { by: 'b' };
      },
    });
    const server = await testServer(kinds, { admission: [noting('a', told), slow, noting('c', told)] });
    const made = await server.create('configmaps', { metadata: { name: 'x' } });
    expect(made.data).toEqual({ by: 'b' });
    expect(told).toEqual([
      ...['a admits CREATE', 'b admits later', 'c admits CREATE'],
      ...['a validates CREATE', 'b validates CREATE', 'c validates CREATE'],
    ]);
  });

  it('runs no plugin that does not handle the kind, and asks each once whether it does', async () => {
    const asked: string[] = [];
    const plugin = noting('a', [], {
      handles: (kind, operation, subresource) => {
        asked.push([kind.kind, operation, ...(subresource ? [subresource] : [])].join(' '));
        return false;
      },
    });
    const server = await testServer(kinds, { admission: [plugin] });
    asked.length = 0;
    for (const name of ['x', 'y']) await server.create('secrets', { metadata: { name } });
    await server.patch('secrets', 'x', { metadata: { labels: { a: 'b' } } });
    await server.delete('secrets', 'x');
    expect(asked).toEqual(['Secret CREATE', 'Secret UPDATE', 'Secret DELETE']);
  });

  it("validates objects that passed the kind's validation, and stores nothing that is rejected", async () => {
    const told: string[] = [];
    const plugin = noting('a', told, {
      validate: () => {
        throw new Error('no');
      },
    });
    const server = await testServer(kinds, { admission: [plugin] });
    await expect(server.create('configmaps', { metadata: { name: 'NOT VALID' } })).rejects.toThrow('is invalid');
    await expect(server.create('configmaps', { metadata: { name: 'x' } })).rejects.toThrow('no');
    expect((await server.list('configmaps')).items).toEqual([]);
  });

  it('fills in defaults again after a plugin that may have omitted some', async () => {
    const container = { name: 'sidecar', image: 'proxy:1' };
    const inject: AdmissionPlugin = {
      name: 'Inject',
      handles: (kind, operation, subresource) => kind === Pod && operation !== 'DELETE' && !subresource,
      admit(_, { operation, object }) {
        const pod = object as Pod;
        if (operation === 'CREATE') pod.spec.containers.push(container as never);
        else pod.metadata.labels = { touched: 'yes' };
      },
    };
    const seen: unknown[] = [];
    const after = noting('After', [], {
      handles: (kind) => kind === Pod,
      admit: (_, { object }) => void seen.push((object as Pod).spec.containers.at(-1)?.imagePullPolicy),
    });
    const server = await testServer([Namespace, Pod], { admission: [inject, after] });
    const made = await server.create('pods', podNamed('p'));
    expect(made.spec.containers[1]).toMatchObject({ ...container, imagePullPolicy: 'IfNotPresent' });
    expect(made.spec.containers[1]).toHaveProperty('terminationMessagePolicy', 'File');
    const patched = await server.patch('pods', 'p', { metadata: { annotations: { a: 'b' } } });
    expect(patched.metadata.labels).toEqual({ touched: 'yes' });
    expect(patched.spec).toEqual(made.spec);
    expect(seen).toEqual(['IfNotPresent', 'IfNotPresent']);
  });

  it('takes a replacement from a plugin, and runs again once when a plugin requests it', async () => {
    const told: string[] = [];
    const first = noting('first', told, {
      admit: (_, { object, isReinvocation }) =>
        void told.push(`first sees ${(object as any).data?.by ?? 'nothing'}${isReinvocation ? ' again' : ''}`),
    });
    const webhook = noting('webhook', told, {
      async admit(_, request) {
        await Promise.resolve();
        request.replace({ ...request.object!, data: { by: 'webhook' } } as never);
        request.reinvoke();
      },
    });
    const server = await testServer(kinds, { admission: [first, webhook] });
    const made = await server.create('configmaps', { metadata: { name: 'x' } });
    expect(made.data).toEqual({ by: 'webhook' });
    expect(told.filter((each) => each.startsWith('first sees'))).toEqual([
      'first sees nothing',
      'first sees webhook again',
    ]);
  });

  it('delivers the warnings and annotations of plugins, even with an error', async () => {
    const plugin = noting('a', [], {
      validate(_, request) {
        request.warn('mind the gap');
        request.annotate('example.com/gap', 'wide');
        if (request.name === 'rejected') throw new ApiError('Forbidden', 'no');
      },
    });
    const server = await testServer(kinds, { admission: [plugin] });
    const options = { fieldValidation: 'Ignore' };
    const call = { verb: 'create', apiVersion: 'v1', plural: 'configmaps', namespace: 'default', options } as const;
    const notesOf = async (name: string) => {
      const notes = new RequestNotes();
      const asked = server.server.handle(
        { ...call, user: { name: 'u', groups: [] }, body: { metadata: { name } } },
        notes,
      );
      return { outcome: await asked.then(() => 'created', String), notes };
    };
    const created = await notesOf('x');
    const rejected = await notesOf('rejected');
    expect([created.outcome, rejected.outcome]).toEqual(['created', 'ApiError: no']);
    for (const { notes } of [created, rejected]) {
      expect(notes.warnings).toEqual(['mind the gap']);
      expect(notes.annotations).toEqual({ 'example.com/gap': 'wide' });
    }
  });
});

it('every plugin that mutates objects keeps their defaults, so that nothing is decoded twice', () => {
  const all = admissionPlugins({ enabled: admissionPluginNames });
  const slow = all.filter(({ admit, keepsDefaults }) => admit && !keepsDefaults);
  expect(slow.map(({ name }) => name)).toEqual([]);
});

it('NamespaceLifecycle rejects deletes of the system namespaces', async () => {
  const server = await testServer(kinds, { admission: [namespaceLifecycle] });
  for (const name of ['default', 'kube-system', 'kube-public']) {
    await expect(server.delete('namespaces', name, { namespace: '' })).rejects.toThrow(
      `namespaces "${name}" is forbidden: this namespace may not be deleted`,
    );
  }
  await server.delete('namespaces', 'kube-node-lease', { namespace: '' });
});

it('NamespaceLifecycle rejects creates in a namespace that does not exist, before validation', async () => {
  const server = await testServer(kinds, { admission: [namespaceLifecycle] });
  const asked = server.create('configmaps', { metadata: { name: 'NOT VALID' } }, { namespace: 'none' });
  await expect(asked).rejects.toThrow('namespaces "none" not found');
});

it('the list of plugins has each plugin once, and leaves out those that are off', () => {
  expect(new Set(admissionPluginNames).size).toBe(admissionPluginNames.length);
  const names = (chosen: Parameters<typeof admissionPlugins>[0]) => admissionPlugins(chosen).map(({ name }) => name);
  expect(names({})).not.toContain('AlwaysPullImages');
  expect(names({ enabled: ['AlwaysPullImages'] })).toContain('AlwaysPullImages');
  expect(names({ disabled: ['PodSecurity'] })).not.toContain('PodSecurity');
  expect(names({}).at(-1)).toBe('ResourceQuota');
  expect(names({ enabled: admissionPluginNames })).toEqual(admissionPluginNames);
});
