/** Tests large YAML bodies, which the built program decodes in a separate thread. */
import { availableParallelism } from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Qd, startQd } from './program.ts';

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const YAML = 'application/yaml';
/** Number of fields that makes, with the lines around them, a definition of 20,000 lines. */
const FIELDS = 6_659;

let qd: Qd;
beforeAll(async () => {
  qd = await startQd();
});
afterAll(() => qd?.stop());

/** A definition with three lines for each field. */
function definition(plural: string, fields: number): string {
  const head = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: ${plural}.example.com
spec:
  group: example.com
  scope: Namespaced
  names:
    plural: ${plural}
    kind: ${plural.toUpperCase()}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
`;
  const field = (_: unknown, i: number) =>
    `              field${i}:\n                description: What the field ${i} means.\n                type: string\n`;
  return head + Array.from({ length: fields }, field).join('');
}

const create = (body: string, query = '') => qd.request('POST', DEFINITIONS + query, { body, type: YAML });

describe.skipIf(availableParallelism() < 2)('with a second processor', () => {
  it('a definition of 20,000 lines is created while other clients are served', async () => {
    const text = definition('widgets', FIELDS);
    expect(text.split('\n').length).toBeGreaterThan(19_999);
    let isCreated = false;
    const creating = create(text).finally(() => {
      isCreated = true;
    });
    let served = 0;
    for (; !isCreated; served++) expect((await qd.request('GET', '/api/v1/namespaces/default')).code).toBe(200);
    const { code, body } = await creating;
    expect([code, body.message]).toEqual([200, undefined]);
    expect(Object.keys(body.spec.versions[0].schema.openAPIV3Schema.properties.spec.properties)).toHaveLength(FIELDS);
    expect(served).toBeGreaterThan(20);
  });

  it('several are decoded one after the other', async () => {
    const names = ['doors', 'lamps', 'walls'];
    const created = await Promise.all(names.map((name) => create(definition(name, FIELDS))));
    expect(created.map(({ code, body }) => [code, body.metadata.name])).toEqual(
      names.map((name) => [200, `${name}.example.com`]),
    );
  });

  it('says what is wrong with one', async () => {
    const text = definition('broken', FIELDS);
    const { code, body } = await create(`${text}  scope: Cluster\n  scope: Cluster\n`, '?fieldValidation=Strict');
    expect([code, body.message]).toEqual([400, expect.stringContaining('duplicate field "spec.scope"')]);
    const invalid = await create(`${text}  a: b: c\n`);
    expect([invalid.code, invalid.body.message]).toEqual([
      400,
      expect.stringMatching(/error converting YAML to JSON: yaml: line \d{5}: Nested mappings are not allowed/),
    ]);
  });

  it('one that is too large for it is asked for as JSON', async () => {
    const { code, body } = await create(`${definition('huge', FIELDS)}  shortNames:\n${'  - a\n'.repeat(30_000)}`);
    expect([code, body.message]).toEqual([
      400,
      expect.stringContaining('yaml: document has too many values: send it as JSON'),
    ]);
  });

  it('it is applied as well', async () => {
    const path = `${DEFINITIONS}/applied.example.com?fieldManager=test`;
    const options = { body: definition('applied', FIELDS), type: 'application/apply-patch+yaml' };
    const { code, body } = await qd.request('PATCH', path, options);
    expect([code, body.message]).toEqual([200, undefined]);
  });
});
