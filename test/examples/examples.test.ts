/** Every example is taken by a server as it stands. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { allKinds } from '../../src/kinds/all.ts';
import { type TestServer, testServer } from '../support/server.ts';

const EXAMPLES = join(import.meta.dirname, '..', '..', 'examples');

function manifestsOf(folder: string): [file: string, object: any][] {
  return readdirSync(join(EXAMPLES, folder)).flatMap((file) => {
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

describe('an object of every kind', () => {
  const examples = manifestsOf('kinds');

  test('there is one of each', () => {
    const shown = examples.map(([, { kind }]) => kind);
    for (const { kind } of allKinds) expect(shown).toContain(kind);
  });

  const served = examples.filter(([, { kind }]) => allKinds.some((each) => each.kind === kind));
  const made = new Set(['ComponentStatus', 'NodeMetrics', 'PodMetrics']);
  const created = served.filter(([, { kind }]) => kind !== 'Binding' && !made.has(kind));
  test.each(created)('%s', async (_, object) => {
    expect(await create(structuredClone(object))).toMatchObject(withoutWriteOnly(object));
  });

  test('binding.yaml, on the pod of its name', async () => {
    const byKind = (kind: string) => examples.find(([, object]) => object.kind === kind)?.[1];
    await create(byKind('Pod'));
    expect(await create(byKind('Binding'))).toMatchObject({ kind: 'Status', status: 'Success' });
  });
});

/** `stringData` goes in and does not come out. */
function withoutWriteOnly({ stringData: _, ...object }: any): any {
  return object;
}
