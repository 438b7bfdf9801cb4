import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { s } from '../../src/schema/builders.ts';
import { PublishedDocument, referenceDirectory } from '../kinds/published.ts';
import { countFields } from './fields.ts';
import { operationCoverage } from './operations.ts';
import { coveragePage, PAGE } from './page.ts';

const directory = referenceDirectory();
const where = directory ? '' : ' (skipped: no published schemas; QUARTERDECK_REFERENCE names their directory)';

describe.skipIf(!directory)(`docs/api-coverage.md${where}`, () => {
  it('agrees with the kinds', async () => {
    const advice = 'docs/api-coverage.md is out of date: run `npm run coverage`';
    expect(readFileSync(PAGE, 'utf8') === (await coveragePage(directory!)), advice).toBe(true);
  });
});

describe('counting fields', () => {
  const definitions = {
    Box: {
      properties: {
        size: { type: 'integer', format: 'int32' },
        lid: { $ref: '#/definitions/Lid' },
        inner: { type: 'array', items: { $ref: '#/definitions/Box' } },
      },
    },
    Lid: { properties: { colour: { type: 'string' }, open: { type: 'boolean' } } },
  };
  const document = new PublishedDocument(true, definitions);
  const count = (fields: Parameters<typeof s.object>[1]) => {
    const { published, served, missing } = countFields(s.object('Box', fields), document, {
      $ref: '#/definitions/Box',
    });
    return { published, served, missing };
  };
  const lid = s.object('Lid', { colour: s.string(), open: s.boolean() });

  it('finds all that are there, a shape inside itself once', () => {
    const inner = s.list(s.object('Box', {}));
    expect(count({ size: s.int32(), lid, inner })).toEqual({ published: 5, served: 5, missing: [] });
  });

  it('names what is missing or of another type by its topmost path, and counts what is inside it', () => {
    const inner = s.list(s.object('Box', {}));
    expect(count({ size: s.string(), inner })).toEqual({ published: 5, served: 1, missing: ['size', 'lid'] });
  });
});

describe('counting operations', () => {
  it('tells resources that are not served from operations that are missing', () => {
    const theirs = {
      '/api/v1/namespaces/{namespace}/pods/{name}': { get: {}, parameters: [] },
      '/api/v1/namespaces/{namespace}/pods/{name}/exec': { get: {}, post: {} },
      '/api/v1/watch/namespaces/{namespace}/pods/{name}': { get: {} },
      '/apis/storage.k8s.io/v1beta1/things': { get: {}, post: {} },
      '/version': { get: {} },
    };
    const ours = {
      '/api/v1/namespaces/{namespace}/pods/{name}': { get: {} },
      '/api/v1/watch/namespaces/{namespace}/pods/{name}': { get: {} },
    };
    expect(operationCoverage(ours, theirs)).toEqual({
      published: 4,
      served: 2,
      missing: new Map([['v1 pods/exec', ['GET', 'POST']]]),
      unserved: new Map([['storage.k8s.io/v1beta1', ['things']]]),
    });
  });
});
