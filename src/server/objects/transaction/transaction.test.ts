/** Tests the guarantees of every transaction towards admission, for every way of writing an object. */
import { describe, expect, it } from 'vitest';
import { podNamed } from '../../../../test/support/admission.ts';
import { type TestServer, testServer } from '../../../../test/support/server.ts';
import { ApiError } from '../../../api/errors.ts';
import { Deployment } from '../../../kinds/groups/apps/deployment.ts';
import { Lease } from '../../../kinds/groups/coordination/lease.ts';
import { Binding } from '../../../kinds/groups/core/binding.ts';
import { ConfigMap } from '../../../kinds/groups/core/configuration/config-map.ts';
import { Namespace } from '../../../kinds/groups/core/namespace.ts';
import { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import { PodDisruptionBudget } from '../../../kinds/groups/policy/pod-disruption-budget.ts';
import type { AdmissionPlugin } from '../../operations/admission/plugin.ts';
import type { AdmissionRequest } from '../admission/request.ts';
import type { Reader } from '../ports.ts';

type Ports = Pick<Reader, 'cache'>;

const kinds = [Namespace, Binding, ConfigMap, Deployment, Lease, Pod, PodDisruptionBudget];
const apps = { apiVersion: 'apps/v1' };
const coordination = { apiVersion: 'coordination.k8s.io/v1' };
const cluster = { namespace: '' };

interface Way {
  readonly what: string;
  /** The subject of admission. */
  readonly asked: string;
  readonly perform: (api: TestServer) => Promise<unknown>;
}

const deployment = {
  metadata: { name: 'd' },
  spec: {
    selector: { matchLabels: { app: 'd' } },
    template: { metadata: { labels: { app: 'd' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
  },
};

const ways: Way[] = [
  {
    what: 'a create',
    asked: 'CREATE configmaps',
    perform: (api) => api.create('configmaps', { metadata: { name: 'new' } }),
  },
  {
    what: 'a replace that creates',
    asked: 'CREATE leases',
    perform: (api) => api.update('leases', { metadata: { name: 'new' }, spec: {} }, coordination),
  },
  {
    what: 'a replace',
    asked: 'UPDATE configmaps',
    perform: (api) => api.update('configmaps', { metadata: { name: 'map' }, data: { a: 'b' } }),
  },
  {
    what: 'a patch',
    asked: 'UPDATE configmaps',
    perform: (api) => api.patch('configmaps', 'map', { data: { a: 'c' } }),
  },
  {
    what: 'a patch of the status',
    asked: 'UPDATE deployments/status',
    perform: (api) => api.patch('deployments', 'd', { status: { replicas: 1 } }, { ...apps, subresource: 'status' }),
  },
  {
    what: 'a scale',
    asked: 'UPDATE deployments/scale',
    perform: (api) => api.patch('deployments', 'd', { spec: { replicas: 3 } }, { ...apps, subresource: 'scale' }),
  },
  {
    what: 'a rollback',
    asked: 'UPDATE deployments/rollback',
    perform: (api) =>
      api.create(
        'deployments',
        { name: 'd', rollbackTo: { revision: 1 } },
        { apiVersion: 'apps/v1beta1', name: 'd', subresource: 'rollback' },
      ),
  },
  {
    what: 'a finalize',
    asked: 'UPDATE namespaces/finalize',
    perform: (api) =>
      api.update('namespaces', { metadata: { name: 'n' }, spec: {} }, { ...cluster, subresource: 'finalize' }),
  },
  { what: 'a delete', asked: 'DELETE configmaps', perform: (api) => api.delete('configmaps', 'map') },
  {
    what: 'a delete that leaves the object to its finalizer',
    asked: 'DELETE configmaps',
    perform: (api) => api.delete('configmaps', 'held'),
  },
  {
    what: 'a delete of a collection',
    asked: 'DELETE configmaps',
    perform: (api) => api.deleteCollection('configmaps', { options: { fieldSelector: 'metadata.name=map' } }),
  },
  {
    what: 'a binding',
    asked: 'CREATE pods/binding',
    perform: (api) => api.create('pods', { target: { name: 'node' } }, { name: 'p', subresource: 'binding' }),
  },
  {
    what: 'an eviction',
    asked: 'CREATE pods/eviction',
    perform: (api) => api.create('pods', { metadata: { name: 'p' } }, { name: 'p', subresource: 'eviction' }),
  },
];

type Act = (core: Ports, request: AdmissionRequest) => void;

/** A server on which `act` runs in one stage of the admission of `asked`. Counts runs and settled admissions. */
async function world(asked: string, stage: 'admit' | 'validate', act: Act) {
  const counts = { ran: 0, settled: 0 };
  const isAsked = ({ operation, kind, subresource }: Pick<AdmissionRequest, 'operation' | 'kind' | 'subresource'>) =>
    [operation, subresource ? `${kind.plural}/${subresource}` : kind.plural].join(' ') === asked;
  let isOn = false;
  const plugin: AdmissionPlugin = {
    name: 'Test',
    handles: (kind, operation, subresource) => isAsked({ operation, kind, subresource }),
    [stage]: (core: Ports, request: AdmissionRequest) => {
      if (!isOn) return;
      counts.ran++;
      request.onSettled(() => counts.settled++);
      act(core, request);
    },
  };
  const api = await testServer(kinds, { admission: [plugin] });
  await api.create('namespaces', { metadata: { name: 'n' } }, cluster);
  await api.create('configmaps', { metadata: { name: 'map' }, data: { a: 'a' } });
  await api.create('configmaps', { metadata: { name: 'held', finalizers: ['example.com/held'] } });
  await api.create('configmaps', { metadata: { name: 'beside' }, data: { count: '0' } });
  await api.create('deployments', deployment, apps);
  await api.create('pods', podNamed('p'));
  isOn = true;
  return { api, counts };
}

const besideOf = (core: Ports) => core.cache.table(ConfigMap).get('default', 'beside')!;

describe.each(ways)('$what', ({ asked, perform }) => {
  it.each(['admit', 'validate'] as const)('settles admission on success and on rejection: %s', async (stage) => {
    const done = await world(asked, stage, () => {});
    await perform(done.api);
    expect(done.counts).toEqual({ ran: 1, settled: 1 });
    const rejected = await world(asked, stage, () => {
      throw new ApiError('Forbidden', 'no');
    });
    const before = await rejected.api.store.revision();
    await expect(perform(rejected.api)).rejects.toThrow('no');
    expect(rejected.counts).toEqual({ ran: 1, settled: 1 });
    expect(await rejected.api.store.revision()).toBe(before);
  });

  it('is admitted again when a row of its conditions has changed', async () => {
    const { api, counts } = await world(asked, 'validate', (core, { conditions }) => {
      const { at, revision } = besideOf(core);
      // Simulates a change of the row right after it was read.
      conditions.push({ key: at.key, revision: counts.ran === 1 ? revision - 1 : revision });
    });
    await perform(api);
    expect(counts).toEqual({ ran: 2, settled: 2 });
  });

  it('updates other objects in the same commit', async () => {
    const { api, counts } = await world(asked, 'validate', (core, { also }) => {
      const current = besideOf(core);
      const object = { ...current.hub(ConfigMap), data: { count: '1' } } as never;
      also.push({ kind: ConfigMap, current, part: 'object', object });
    });
    await perform(api);
    expect(counts).toEqual({ ran: 1, settled: 1 });
    const beside = await api.get('configmaps', 'beside');
    expect(beside.data).toEqual({ count: '1' });
    expect(beside.metadata.resourceVersion).toBe(String(await api.store.revision()));
  });

  it('commits nothing when an object updated with it is invalid', async () => {
    const { api } = await world(asked, 'validate', (core, { also }) => {
      const current = besideOf(core);
      const object = { ...current.hub(ConfigMap), data: { 'not a key': '1' } } as never;
      also.push({ kind: ConfigMap, current, part: 'object', object });
    });
    await expect(perform(api)).rejects.toThrow('ConfigMap "beside" is invalid');
    expect((await api.get('configmaps', 'beside')).data).toEqual({ count: '0' });
  });
});

it.each([
  ['deployments', { metadata: { annotations: { a: 'b' } } }, {}, { replicas: 5, observed: undefined }],
  ['deployments/status', { status: { replicas: 3 } }, { subresource: 'status' }, { replicas: 1, observed: 5 }],
] as const)('an update of %s changes no more of the object when admission does', async (what, change, at, left) => {
  const { api } = await world(`UPDATE ${what}`, 'admit', (_, request) => {
    const { spec, ...rest } = request.object as Deployment;
    request.replace({ ...rest, spec: { ...spec, replicas: 5 }, status: { replicas: 5 } } as Deployment);
  });
  await api.patch('deployments', 'd', change, { ...apps, ...at });
  const { spec, status } = await api.get('deployments', 'd', apps);
  expect({ replicas: spec.replicas, observed: status?.replicas }).toEqual(left);
});

describe('a dry run', () => {
  it.each(ways.filter(({ what }) => !/collection|creates/.test(what)))(
    'of $what leaves everything as it was',
    async (way) => {
      const { api, counts } = await world(way.asked, 'validate', (core, { also, dryRun }) => {
        expect(dryRun).toBe(true);
        const current = besideOf(core);
        also.push({
          kind: ConfigMap,
          current,
          part: 'object',
          object: { ...current.hub(ConfigMap), data: {} } as never,
        });
      });
      const before = await api.store.revision();
      await way.perform(dryRunning(api));
      expect(counts).toEqual({ ran: 1, settled: 1 });
      expect(await api.store.revision()).toBe(before);
    },
  );
});

/** Wraps a server so that every write is a dry run. */
function dryRunning(api: TestServer): TestServer {
  const options = { dryRun: ['All'] };
  return {
    ...api,
    create: (plural, body, more) => api.create(plural, body, { ...more, options }),
    update: (plural, body, more) => api.update(plural, body, { ...more, options }),
    patch: (plural, name, body, more) => api.patch(plural, name, body, { ...more, options }),
    delete: (plural, name, more) => api.delete(plural, name, { ...more, options }),
  };
}

describe('a create with a resourceVersion', () => {
  const versioned = { metadata: { name: 'new', resourceVersion: '1' } };

  it('is rejected', async () => {
    const { api, counts } = await world('CREATE configmaps', 'validate', () => {});
    const before = await api.store.revision();
    const rejection = { reason: 'BadRequest', message: 'resourceVersion should not be set on objects to be created' };
    await expect(api.create('configmaps', versioned)).rejects.toMatchObject(rejection);
    await expect(dryRunning(api).create('configmaps', versioned)).rejects.toMatchObject(rejection);
    expect(counts).toEqual({ ran: 2, settled: 2 });
    expect(await api.store.revision()).toBe(before);
  });

  it('is rejected by admission first', async () => {
    const { api } = await world('CREATE configmaps', 'validate', () => {
      throw new ApiError('Forbidden', 'no');
    });
    await expect(api.create('configmaps', versioned)).rejects.toMatchObject({ reason: 'Forbidden' });
  });
});

describe('a write that conflicts', () => {
  it('is abandoned when its client has disconnected', async () => {
    const leaving = new AbortController();
    const { api } = await world('UPDATE configmaps', 'validate', (core, { conditions }) => {
      conditions.push({ key: besideOf(core).at.key, revision: 1 });
      leaving.abort(new Error('gone'));
    });
    const patch = api.patch('configmaps', 'map', { data: { a: 'c' } }, { signal: leaving.signal });
    await expect(patch).rejects.toMatchObject({ reason: 'Timeout' });
  });
});
