/** Definitions whose schemas are as large, deep or costly as a request can hold, and objects for them. */
import type { Attack, AttackContext } from '../attack.ts';
import { LARGE_BODY_BYTES } from '../client.ts';

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const GROUP = 'schemas.example.com';

function define(admin: AttackContext['admin'], plural: string, spec: object) {
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec } } };
  const versions = [{ name: 'v1', served: true, storage: true, schema }];
  const names = { plural, kind: plural };
  const body = { metadata: { name: `${plural}.${GROUP}` }, spec: { group: GROUP, scope: 'Cluster', names, versions } };
  return admin.send('POST', DEFINITIONS, { body });
}

const PLURALS = [
  ...[
    'wide',
    'deep',
    'patterns',
    'expressions',
    'described',
    'enums',
    'unions',
    'defaults',
    'filled',
    'ruled',
    'chained',
    'alternatives',
    'searched',
  ],
];

const fieldsOf = (count: number, schema: object) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`field${i}`, schema]));

function nested(depth: number, leaf: object): object {
  let schema = leaf;
  for (let i = 0; i < depth; i++) schema = { type: 'object', properties: { a: schema } };
  return schema;
}

export const hostileSchemas: Attack = {
  name: 'hostile schemas of custom kinds',
  async run({ admin }) {
    const text = { type: 'string' };
    await define(admin, 'wide', { type: 'object', properties: fieldsOf(LARGE_BODY_BYTES / 35, text) });
    await define(admin, 'deep', nested(1_000, text));
    const pattern = { type: 'string', pattern: '(a{0,500}b{0,500}){0,2}' };
    await define(admin, 'patterns', { type: 'object', properties: fieldsOf(5_000, pattern) });
    const different = (i: number) => ({ type: 'string', pattern: `^(a|b|c){1,300}${i}$` });
    const properties = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`field${i}`, different(i)]));
    await define(admin, 'expressions', { type: 'object', properties });
    await define(admin, 'described', { type: 'object', description: 'a'.repeat(LARGE_BODY_BYTES) });
    const choices = Array.from({ length: LARGE_BODY_BYTES / 14 }, (_, i) => `choice${i}`);
    await define(admin, 'enums', { type: 'object', properties: { a: { type: 'string', enum: choices } } });
    const some = [{ required: ['a'] }, { required: ['b'] }];
    let union: object = { allOf: some };
    for (let i = 0; i < 12; i++) union = { anyOf: [union, union] };
    await define(admin, 'unions', { type: 'object', properties: { a: text, b: text }, ...union });
    const defaults = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`d${i}`, { a: i }]));
    await define(admin, 'defaults', {
      ...{ type: 'object', 'x-kubernetes-preserve-unknown-fields': true, default: defaults },
    });
    const filled = fieldsOf(2_000, { type: 'string', default: 'x'.repeat(100) });
    const items = { type: 'object', properties: filled };
    await define(admin, 'filled', { type: 'object', properties: { list: { type: 'array', items } } });
    const rules = Array.from({ length: 500 }, (_, i) => ({ rule: `has(self.field${i})` }));
    const optional = fieldsOf(10_000, { type: 'string', maxLength: 3 });
    await define(admin, 'ruled', { type: 'object', properties: optional, 'x-kubernetes-validations': rules });
    const chain = `self${'.a'.repeat(100)} == ''`;
    await define(admin, 'chained', {
      ...(nested(100, { type: 'string', maxLength: 3 }) as object),
      'x-kubernetes-validations': Array.from({ length: 200 }, () => ({ rule: chain })),
    });
    const alternatives = Array.from({ length: 1_000 }, (_, i) => ({ pattern: `^v${i}$` }));
    const alternative = { type: 'string', anyOf: alternatives };
    await define(admin, 'alternatives', { type: 'object', additionalProperties: alternative });
    await define(admin, 'searched', {
      ...{ type: 'object', properties: { a: { type: 'string', maxLength: 100_000 } } },
      'x-kubernetes-validations': [
        { rule: `self.a.matches('(a?b?){500}[xy]') || self.a.findAll('a.*[xy]|a').size() > 0` },
      ],
    });
    await write(admin);
    for (const plural of PLURALS) await admin.send('DELETE', `${DEFINITIONS}/${plural}.${GROUP}`);
  },
};

/** Objects for the definitions above, some valid and some not. */
async function write(admin: AttackContext['admin']): Promise<void> {
  const create = (kind: string, spec: object) =>
    admin.send('POST', `/apis/${GROUP}/v1/${kind}`, {
      body: { apiVersion: `${GROUP}/v1`, kind, metadata: { generateName: 'a-' }, spec },
    });
  const texts = (count: number, text: string) =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`field${i}`, text]));
  await create('wide', texts(80_000, 'a'));
  await create('patterns', texts(5_000, 'a'.repeat(400)));
  await create('expressions', texts(5_000, 'abc'.repeat(100)));
  await create('enums', { a: 'none' });
  for (let i = 0; i < 5; i++) await create('unions', { c: 'a' });
  await create('defaults', {});
  await create('filled', { list: Array.from({ length: 60_000 }, () => ({})) });
  await create('ruled', texts(10_000, 'abc'));
  await create('chained', { a: {} });
  await create('alternatives', texts(9_000, 'v999'));
  await create('searched', { a: 'a'.repeat(100_000) });
}
