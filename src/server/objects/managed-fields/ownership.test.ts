/**
 * Compares field ownership after any sequence of writes with a simple model: a write gives the paths that it added or
 * changed to its manager and takes them from all others; removed paths belong to nobody; an apply owns the paths of its
 * configuration.
 */

import { expect, it } from 'vitest';
import { fc, forAllAsync } from '../../../../test/support/property-runs.ts';
import { testServer } from '../../../../test/support/server.ts';
import { Deployment } from '../../../kinds/groups/apps/deployment.ts';
import { Namespace } from '../../../kinds/groups/core/namespace.ts';

type Paths = Map<string, unknown>;

/** The observed paths of an object, with the values of leaves. */
function pathsOf(object: any, { isConfig = false } = {}): Paths {
  const paths: Paths = new Map();
  const leaf = (path: string, value: unknown) => value !== undefined && paths.set(path, JSON.stringify(value));
  const self = (path: string) => paths.set(path, undefined);
  // An applied map or list is owned by its items alone.
  const whole = (path: string, value: unknown) => value !== undefined && !isConfig && self(path);
  const { labels, finalizers } = object.metadata;
  whole('f:metadata/f:labels', labels);
  for (const key in labels) leaf(`f:metadata/f:labels/f:${key}`, labels[key]);
  whole('f:metadata/f:finalizers', finalizers);
  for (const value of finalizers ?? []) self(`f:metadata/f:finalizers/v:${JSON.stringify(value)}`);
  leaf('f:spec/f:replicas', object.spec?.replicas);
  leaf('f:spec/f:paused', object.spec?.paused || undefined);
  for (const { name, image, env } of object.spec?.template?.spec?.containers ?? []) {
    const at = `f:spec/f:template/f:spec/f:containers/k:${JSON.stringify({ name })}`;
    self(at);
    leaf(`${at}/f:name`, name);
    leaf(`${at}/f:image`, image);
    whole(`${at}/f:env`, env);
    for (const each of env ?? []) {
      const item = `${at}/f:env/k:${JSON.stringify({ name: each.name })}`;
      self(item);
      leaf(`${item}/f:name`, each.name);
      leaf(`${item}/f:value`, each.value);
    }
  }
  const { conditions, observedGeneration } = object.status ?? {};
  leaf('f:status/f:observedGeneration', observedGeneration);
  whole('f:status/f:conditions', conditions);
  for (const { type, status } of conditions ?? []) {
    const item = `f:status/f:conditions/k:${JSON.stringify({ type })}`;
    self(item);
    leaf(`${item}/f:type`, type);
    leaf(`${item}/f:status`, status);
  }
  return paths;
}

const LOOKED_AT =
  /^f:metadata\/|^f:spec\/f:(replicas|paused)$|^f:spec.*k:\{"name":"\w+"\}(\/f:(name|image|env.*))?$|^f:status\/(f:observedGeneration|f:conditions(\/[^/]*(\/f:(type|status))?)?)$/;

/** The observed members of `fieldsV1`. */
function members(node: any, path = ''): string[] {
  const own = path && (Object.keys(node).length === 0 || '.' in node) && LOOKED_AT.test(path) ? [path] : [];
  const below = Object.keys(node).filter((key) => key !== '.');
  return [...own, ...below.flatMap((key) => members(node[key], path ? `${path}/${key}` : key))];
}

interface Owner {
  paths: Set<string>;
  /** The time; undefined until the manager has changed something. */
  time: string | undefined;
}

interface Applied {
  readonly config: Paths;
  readonly before: Paths;
  readonly after: Paths;
  /** True when the object did not change, the order of lists included. */
  readonly isSame: boolean;
}

class Model {
  readonly owners = new Map<string, Owner>();

  /** Returns the changes of a write, and removes them from the other managers. */
  #write(before: Paths, after: Paths, except?: string): string[] {
    const changed = [...after.keys()].filter((path) => !before.has(path) || before.get(path) !== after.get(path));
    // As in Kubernetes: an apply leaves a map or list that somebody else owns, which is not stored when it is empty.
    const gone = [...before.keys()].filter((path) => !after.has(path));
    const isLeftEmpty = (path: string) =>
      except !== undefined &&
      gone.some((each) => each.startsWith(`${path}/`)) &&
      !gone.some((each) => path.startsWith(`${each}/`));
    for (const [id, { paths }] of this.owners) {
      if (id === except) continue;
      for (const path of changed) paths.delete(path);
      for (const path of gone) if (!isLeftEmpty(path)) paths.delete(path);
      if (paths.size === 0) this.owners.delete(id);
    }
    return changed;
  }

  update(id: string, time: string, before: Paths, after: Paths): void {
    const mine = this.owners.get(id);
    const changed = this.#write(before, after);
    if (changed.length > 0) this.owners.set(id, { time, paths: new Set([...(mine?.paths ?? []), ...changed]) });
  }

  apply(id: string, time: string, { config, before, after, isSame }: Applied): void {
    const last = this.owners.get(id)?.time;
    this.#write(before, after, id);
    this.owners.delete(id);
    if (config.size > 0) this.owners.set(id, { time: isSame ? last : time, paths: new Set(config.keys()) });
  }

  /** Reports whether another manager owns something that an apply would change. */
  conflicts(id: string, config: Paths, before: Paths): boolean {
    return [...this.owners].some(
      ([other, { paths }]) =>
        other !== id && [...config].some(([path, value]) => paths.has(path) && before.get(path) !== value),
    );
  }

  listed(): string[] {
    return [...this.owners].map(([id, { paths, time }]) => `${id} ${time}: ${[...paths].sort().join(' ')}`).sort();
  }
}

const listed = (object: any) =>
  (object.metadata.managedFields ?? [])
    .map(({ manager, operation, subresource = '', time, fieldsV1 }: any) => {
      return { id: `${manager} ${operation} ${subresource}`, time, paths: members(fieldsV1).sort() };
    })
    .filter(({ paths }: any) => paths.length > 0)
    .map(({ id, time, paths }: any) => `${id} ${time}: ${paths.join(' ')}`)
    .sort();

/** Rejected objects stay as they were. */
const invalid = (error: any): undefined => {
  if (error.reason !== 'Invalid') throw error;
};

const contentOf = ({ metadata: { labels, finalizers }, spec }: any) => JSON.stringify([labels, finalizers, spec]);

const values = fc.constantFrom('1', '2');
const keys = fc.constantFrom('a', 'b', 'c');
const env = fc.uniqueArray(fc.record({ name: keys, value: values }), { selector: ({ name }) => name, minLength: 1 });
const containers = (withEnv = env) =>
  fc.uniqueArray(
    fc.record({ name: fc.constantFrom('x', 'y'), image: values, env: withEnv }, { requiredKeys: ['name', 'image'] }),
    { selector: ({ name }) => name, minLength: 1 },
  );
const metadata = fc.record(
  {
    labels: fc.dictionary(keys, values, { minKeys: 1 }),
    finalizers: fc.uniqueArray(fc.constantFrom('e.x/a', 'e.x/b'), { minLength: 1 }),
  },
  { requiredKeys: [] },
);
const spec = fc.record(
  { replicas: fc.nat(2), paused: fc.constant(true), containers: containers() },
  { requiredKeys: [] },
);
const by = fc.constantFrom('ann', 'bob');
const steps = fc.oneof(
  fc.record({ type: fc.constant('update' as const), by, metadata, spec }),
  fc.record({ type: fc.constant('patch' as const), by, metadata, spec }),
  fc.record({
    type: fc.constant('status' as const),
    by,
    status: fc.record(
      {
        observedGeneration: fc.nat(2),
        conditions: fc.uniqueArray(
          fc.record({ type: fc.constantFrom('A', 'B'), status: fc.constantFrom('True', 'False') }),
          {
            selector: ({ type }) => type,
            minLength: 1,
          },
        ),
      },
      { requiredKeys: [] },
    ),
  }),
  fc.record({ type: fc.constant('apply' as const), by, force: fc.boolean(), metadata, spec }),
);

const base = { apiVersion: 'apps/v1', kind: 'Deployment' };
const deployment = (metadata: object, { containers: list, ...spec }: any) => ({
  ...base,
  metadata: { name: 'd', ...metadata },
  spec: {
    selector: { matchLabels: { app: 'd' } },
    ...spec,
    template: { metadata: { labels: { app: 'd' } }, spec: { containers: list ?? [{ name: 'x', image: '1' }] } },
  },
});
/** A configuration may omit anything. */
const configuration = (metadata: object, { containers: list, ...spec }: any) => ({
  ...base,
  metadata: { name: 'd', ...metadata },
  spec: { ...spec, ...(list ? { template: { spec: { containers: list } } } : {}) },
});

it('agrees with a simple model after any sequence of writes', async () => {
  await forAllAsync(
    { numRuns: Number(process.env.FUZZ_RUNS ?? 40) },
    fc.array(steps, { maxLength: 10 }),
    async (sequence) => {
      const api = await testServer([Deployment, Namespace]);
      const model = new Model();
      const at = { apiVersion: 'apps/v1' };
      const now = () => new Date(api.clock.now()).toISOString().replace('.000', '');
      let object = await api.create('deployments', deployment({}, { replicas: 1 }), { ...at, userAgent: 'ann/v1' });
      model.update('ann Update ', now(), new Map(), pathsOf(object));
      for (const step of sequence) {
        await api.clock.advance(1000);
        const before = pathsOf(object);
        const call = { ...at, userAgent: `${step.by}/v1` };
        if (step.type === 'apply') {
          const config = configuration(step.metadata, step.spec);
          const id = `${step.by} Apply `;
          const options = { fieldManager: step.by, force: step.force };
          const isRejected = !step.force && model.conflicts(id, pathsOf(config, { isConfig: true }), before);
          const applying = api.patch('deployments', 'd', config, { ...at, patchType: 'apply', options });
          if (isRejected) {
            await expect(applying).rejects.toMatchObject({ reason: 'Conflict' });
            continue;
          }
          const content = contentOf(object);
          const applied = await applying.catch(invalid);
          // The configuration dropped the image of a container that another manager owns.
          if (!applied) continue;
          object = applied;
          const isSame = contentOf(object) === content;
          model.apply(id, now(), {
            config: pathsOf(config, { isConfig: true }),
            before,
            after: pathsOf(object),
            isSame,
          });
        } else if (step.type === 'status') {
          const { status } = step;
          object = await api.patch('deployments', 'd', { status }, { ...call, subresource: 'status' });
          model.update(`${step.by} Update status`, now(), before, pathsOf(object));
        } else {
          const { managedFields: _, resourceVersion: __, ...kept } = object.metadata;
          const body = deployment({ ...kept, ...step.metadata }, step.spec);
          object =
            step.type === 'update'
              ? await api.update('deployments', body, call)
              : await api.patch('deployments', 'd', configuration(step.metadata, step.spec), {
                  ...call,
                  patchType: 'strategic',
                });
          model.update(`${step.by} Update `, now(), before, pathsOf(object));
        }
        expect(listed(object)).toEqual(model.listed());
        expect(listed(await api.get('deployments', 'd', at))).toEqual(model.listed());
      }
    },
  );
});
