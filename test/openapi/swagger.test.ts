/**
 * Tests the Swagger declarations as a client of Kubernetes 1.7 uses them: it checks every object with them before it
 * sends it.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { allKinds } from '../../src/kinds/all.ts';
import { Registry } from '../../src/server/objects/registry/registry.ts';
import { allSubresources } from '../../src/server/operations/subresources/all.ts';
import { BackendRegistry } from '../../src/server/serving/backends/backend-registry.ts';
import { OpenApi } from '../../src/server/serving/openapi/openapi.ts';

const EXAMPLES = join(import.meta.dirname, '..', '..', 'examples', 'kinds');

const openApi = new OpenApi(new BackendRegistry(new Registry(allKinds, allSubresources)));

/** Performs the checks of that client: names of types, and with them the allowed values. */
async function check(object: any): Promise<string[]> {
  const { apiVersion, kind } = object;
  const path = apiVersion.includes('/') ? `apis/${apiVersion}` : `api/${apiVersion}`;
  const document = await openApi.document(`/swaggerapi/${path}`, undefined);
  const { models } = JSON.parse(String(document?.body));
  return checkModel(object, `${apiVersion.split('/').at(-1)}.${kind}`, models);
}

function checkModel(value: any, type: string, models: any): string[] {
  const model = models[type];
  if (!model) return [`no model ${type}`];
  if (typeof value !== 'object' || Array.isArray(value)) return [`${type} is an object`];
  const missing = (model.required ?? []).filter((field: string) => !(field in value));
  const found = missing.map((field: string) => `field ${field} for ${type} is required`);
  for (const [field, inner] of Object.entries(value)) {
    const property = model.properties[field];
    if (!property) found.push(`found invalid field ${field} for ${type}`);
    else if (inner !== null) found.push(...checkValue(inner, property, models).map((text) => `${field}: ${text}`));
  }
  return found;
}

function checkValue(value: any, { type, $ref, items }: any, models: any): string[] {
  if ($ref) return checkModel(value, $ref, models);
  switch (type) {
    case 'string':
      return typeof value === 'string' || typeof value === 'number' ? [] : ['expected string'];
    case 'integer':
      return typeof value === 'number' ? [] : ['expected int'];
    case 'boolean':
      return typeof value === 'boolean' ? [] : ['expected bool'];
    case 'array':
      if (!Array.isArray(value)) return ['expected array'];
      return value.flatMap((item) => checkValue(item, items, models));
    case 'object':
      return [];
    default:
      return [`unexpected type: ${type}`];
  }
}

describe('an old client', () => {
  const examples = readdirSync(EXAMPLES).flatMap((file) =>
    parseAllDocuments(readFileSync(join(EXAMPLES, file), 'utf8'), { version: '1.1' }).map((document) =>
      document.toJS(),
    ),
  );

  test.each(examples.map((object) => [`${object.kind} of ${object.apiVersion}`, object]))(
    'takes %s as it stands',
    async (_name, object) => {
      expect(await check(object)).toEqual([]);
    },
  );

  test('finds what does not fit', async () => {
    const spec = { containers: [{ name: 'a', prots: [], stdin: 'yes', ports: [{ containerPort: 'x' }] }], volumes: {} };
    expect(await check({ apiVersion: 'v1', kind: 'Pod', metadata: {}, spec })).toEqual([
      'spec: containers: found invalid field prots for v1.Container',
      'spec: containers: stdin: expected bool',
      'spec: containers: ports: containerPort: expected int',
      'spec: volumes: expected array',
    ]);
  });
});
