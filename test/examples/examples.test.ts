/** Tests that a server accepts every example as it stands. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { allKinds } from '../../src/kinds/all.ts';
import { Binding } from '../../src/kinds/groups/core/binding.ts';
import { Pod } from '../../src/kinds/groups/core/pod/pod.ts';
import { exampleOf, examplePath } from '../support/kinds/examples.ts';
import { type TestServer, testServer } from '../support/server.ts';

const EXAMPLES = join(import.meta.dirname, '..', '..', 'examples');

function manifestsOf(folder: string): [file: string, object: any][] {
  const files = readdirSync(join(EXAMPLES, folder)).filter((file) => file.endsWith('.yaml'));
  return files.flatMap((file) => {
    const documents = parseAllDocuments(readFileSync(join(EXAMPLES, folder, file), 'utf8'), { version: '1.1' });
    return documents.map((document): [string, any] => [file, document.toJS()]);
  });
}

let api: TestServer;
beforeEach(async () => {
  api = await testServer(allKinds);
});

function create(object: any): Promise<any> {
  const { apiVersion, kind: name, metadata } = object;
  const kind = allKinds.find((each) => each.kind === name && each.versions.some((v) => v.apiVersion === apiVersion));
  if (!kind) throw new Error(`${name} of ${apiVersion} is not served`);
  const namespaced =
    kind.scope === 'Namespaced' ? { namespace: metadata.namespace ?? 'default' } : { namespace: undefined };
  return api.create(kind.plural, object, { apiVersion, ...namespaced });
}

test('the first walk is made in the order of its numbers', async () => {
  const made: string[] = [];
  for (const [, object] of manifestsOf('first-walk')) made.push((await create(object)).kind);
  expect(made).toEqual(['Namespace', 'ConfigMap', 'Secret', 'Pod', 'Deployment', 'Service', 'CronJob']);
});

test('the shop is made in the order of its numbers, and then its policy', async () => {
  const made: string[] = [];
  for (const [, object] of [...manifestsOf('shop'), ...manifestsOf('shop/policy')]) {
    const { kind, metadata } = await create(object);
    made.push(`${kind} ${metadata.name}`);
  }
  expect(made).toEqual([
    ...['Namespace shop', 'ConfigMap settings', 'Secret database', 'ConfigMap programs'],
    ...['PersistentVolumeClaim database', 'Deployment database', 'Service database'],
    ...['Deployment api', 'Service api', 'Deployment web', 'Service web', 'Ingress shop', 'NetworkPolicy database'],
  ]);
});

describe('an object of every kind', () => {
  test.each(allKinds.map((kind) => [kind.kind, kind] as const))('there is one of %s', (_, kind) => {
    expect(exampleOf(kind).kind).toBe(kind.kind);
  });

  test('all examples belong to kinds', () => {
    const expected = new Set(allKinds.map(examplePath));
    const others = readdirSync(join(EXAMPLES, 'kinds')).filter((file) => !expected.has(`examples/kinds/${file}`));
    expect(others, 'no kind has these examples: remove them, or name each after its kind').toEqual([]);
  });

  const created = allKinds.filter(({ kind, verbs }) => kind !== 'Binding' && (!verbs || verbs.includes('create')));
  test.each(created.map((kind) => [kind.kind, kind] as const))('a server accepts that of %s', async (_, kind) => {
    const object = exampleOf(kind);
    expect(await create(structuredClone(object))).toMatchObject(withoutWriteOnly(object));
  });

  test('a server accepts that of Binding, on the pod of its name', async () => {
    await create(exampleOf(Pod));
    expect(await create(exampleOf(Binding))).toMatchObject({ kind: 'Status', status: 'Success' });
  });
});

/** `stringData` goes in and does not come out. */
function withoutWriteOnly({ stringData: _, ...object }: any): any {
  return object;
}
