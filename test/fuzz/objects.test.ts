/**
 * Sends malformed objects through a whole write: decoding, defaults, admission with every plugin, validation,
 * conversion. Each is stored or rejected with reasons. `FUZZ_RUNS` sets how many are made at random.
 */
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { ApiError } from '../../src/api/errors.ts';
import { allKinds } from '../../src/kinds/all.ts';
import type { Kind } from '../../src/kinds/kind.ts';
import { admissionPlugins } from '../../src/server/operations/admission/all.ts';
import { admissionPluginNames } from '../../src/server/operations/admission/names.ts';
import { anyValueOf } from '../support/any-value.ts';
import { exampleOf } from '../support/kinds/examples.ts';
import { type Asked, type TestServer, testServer } from '../support/server.ts';

const RUNS = Number(process.env.FUZZ_RUNS ?? 10);
const DRY: Asked = { options: { dryRun: ['All'] } };

const kinds = allKinds.filter(({ verbs }) => verbs === undefined || verbs.includes('create'));

let api: TestServer;
beforeAll(async () => {
  api = await testServer(allKinds, { admission: admissionPlugins({ enabled: admissionPluginNames }) });
  await api.create('serviceaccounts', { metadata: { name: 'default' } });
  await api.create('resourcequotas', {
    metadata: { name: 'all' },
    spec: { hard: { pods: '1000', 'limits.cpu': '5k' } },
  });
  await api.create('limitranges', {
    metadata: { name: 'all' },
    spec: { limits: [{ type: 'Container', default: { cpu: '1' } }] },
  });
});

function asked(kind: Kind, apiVersion: string, more: Asked = {}): Asked {
  return { apiVersion, ...(kind.scope === 'Cluster' ? { namespace: '' } : {}), ...more };
}

/** Everything but an answer of the server's own making is a defect. */
async function isAnswered(what: unknown, answer: Promise<unknown>): Promise<void> {
  const error = await answer.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error === undefined || (error instanceof ApiError && error.toStatus().code < 500)) return;
  expect.fail(`${error instanceof Error ? error.stack : error}\n${JSON.stringify(what)}`);
}

/** Copies of a tree, each of which lacks one part of it, or has nothing in its place. */
function* incomplete(tree: object): Generator<any> {
  for (const steps of pathsOf(tree)) {
    for (const instead of [undefined, null, {}, []]) {
      const copy = structuredClone(tree);
      const last = steps.at(-1)!;
      const parent = steps.slice(0, -1).reduce((at: any, step) => at[step], copy);
      if (instead !== undefined) parent[last] = instead;
      else if (Array.isArray(parent)) parent.splice(Number(last), 1);
      else delete parent[last];
      yield copy;
    }
  }
}

function* pathsOf(tree: any, at: readonly string[] = []): Generator<readonly string[]> {
  if (typeof tree !== 'object' || tree === null) return;
  for (const key of Object.keys(tree)) {
    yield [...at, key];
    yield* pathsOf(tree[key], [...at, key]);
  }
}

describe.each(kinds.map((kind) => [kind.kind, kind] as const))('%s', (name, kind) => {
  it('may lack anything when it is created', async () => {
    const example = exampleOf(kind);
    for (const object of incomplete(example)) {
      await isAnswered(object, api.create(kind.plural, object, asked(kind, example.apiVersion, DRY)));
    }
  });

  it('may lack anything when it is written again', async () => {
    const example = exampleOf(kind);
    const { apiVersion } = example;
    await isAnswered(example, api.create(kind.plural, structuredClone(example), asked(kind, apiVersion)));
    if (kind.verbs && !kind.verbs.includes('update')) return;
    const stored = await api.get(kind.plural, example.metadata.name, asked(kind, apiVersion));
    const subresources = kind.subresources?.status ? [undefined, 'status'] : [undefined];
    for (const object of incomplete(stored)) {
      for (const subresource of subresources) {
        const more = { ...DRY, name: example.metadata.name, ...(subresource ? { subresource } : {}) };
        await isAnswered(object, api.update(kind.plural, object, asked(kind, apiVersion, more)));
      }
    }
  });

  it.each(kind.versions.map((version) => [version.apiVersion, version] as const))(
    'of %s has whatever has the right types',
    async (apiVersion, { schema }) => {
      const { metadata: _, ...fields } = schema.fields;
      const objects = anyValueOf({ ...schema, fields } as typeof schema, 9);
      await fc.assert(
        fc.asyncProperty(objects, async (object) => {
          const whole = { ...(object as object), apiVersion, kind: name, metadata: { name: 'a' } };
          await isAnswered(whole, api.create(kind.plural, whole, asked(kind, apiVersion, DRY)));
        }),
        { numRuns: RUNS },
      );
    },
  );
});
