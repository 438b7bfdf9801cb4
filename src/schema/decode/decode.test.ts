import { describe, expect, it } from 'vitest';
import { fc, forAll } from '../../../test/support/property-runs.ts';
import { s } from '../builders.ts';
import type { ObjectSchema, Schema } from '../schema.ts';
import { DecodeError, decode, decodeUnlimited } from './decode.ts';

const Port = s.object('ContainerPort', {
  containerPort: s.int32({ zero: true }),
  protocol: s.enum(['TCP', 'UDP'], { default: 'TCP' }),
  targetPort: s.intOrString(),
});

const Container = s.object('Container', {
  name: s.string({ zero: true }),
  image: s.string(),
  imagePullPolicy: s.enum(['Always', 'IfNotPresent'], {
    default: (container: any) => (container.image?.endsWith(':latest') ? 'Always' : 'IfNotPresent'),
  }),
  ports: s.listMap(Port, { keys: ['containerPort'] }),
  resources: s.object('Resources', { limits: s.map(s.quantity()) }, { default: {} }),
  args: s.list(s.string()),
});

const Tree: Schema = s.object('Tree', { value: s.int64(), children: s.list(s.lazy(() => Tree)) });

const Pod = s.object('Pod', {
  metadata: s.object(
    'ObjectMeta',
    { name: s.string(), labels: s.map(s.string()), created: s.time(), renewed: s.microTime() },
    { default: {} },
  ),
  spec: s.object('PodSpec', {
    containers: s.listMap(Container, { keys: ['name'], zero: true }),
    graceSeconds: s.int64({ default: 30 }),
    hostNetwork: s.boolean(),
    weight: s.number(),
    timeout: s.duration(),
    policy: s.string({ default: 'Normal' }),
    strategy: s.object(
      'Strategy',
      { type: s.string({ default: 'Rolling' }), parts: s.list(s.string(), { default: ['a'] }) },
      { default: {} },
    ),
    copies: s.int32({ default: (spec: any) => Math.trunc((spec.graceSeconds % 100) / 10) }),
  }),
  data: s.map(s.bytes()),
  extra: s.any(),
  tree: s.use(Tree),
}) as unknown as ObjectSchema<any>;

const thrown = (input: unknown): string => {
  try {
    decode(Pod, input);
  } catch (error) {
    expect(error).toBeInstanceOf(DecodeError);
    return (error as Error).message;
  }
  return 'nothing';
};

describe('pruning', () => {
  it('drops unknown fields, nulls and nothing else', () => {
    const input = {
      bogus: 1,
      spec: null,
      metadata: { name: 'a', nope: {}, labels: { x: '1' } },
      extra: { any: [null] },
    };
    expect(decode(Pod, input)).toEqual({ metadata: { name: 'a', labels: { x: '1' } }, extra: { any: [null] } });
  });

  it('tells of unknown fields with their paths', () => {
    const unknown: string[] = [];
    const input = { a: 1, spec: { b: null, containers: [{}, { c: 1, ports: [{ d: 1 }] }] } };
    decode(Pod, input, { unknown: (path) => unknown.push(path) });
    expect(unknown).toEqual(['a', 'spec.b', 'spec.containers[1].c', 'spec.containers[1].ports[0].d']);
  });

  it('keeps hostile keys out of objects, and as plain data in maps', () => {
    const pod = decode(
      Pod,
      JSON.parse('{"__proto__":{"x":1},"constructor":1,"metadata":{"labels":{"__proto__":"a","toString":"b"}}}'),
    );
    expect(Object.keys(pod)).toEqual(['metadata']);
    expect(Object.entries(pod.metadata.labels)).toEqual([
      ['__proto__', 'a'],
      ['toString', 'b'],
    ]);
    expect(Object.getPrototypeOf(pod.metadata.labels)).toBe(Object.prototype);
  });

  it('takes an optional list or map that is empty for none', () => {
    const pod = decode(Pod, { metadata: { labels: {} }, spec: { containers: [{ name: 'a', args: [], ports: [] }] } });
    expect(pod.metadata).toEqual({});
    expect(pod.spec.containers[0]).not.toHaveProperty('args');
    expect(decode(Pod, { spec: { containers: [] } }).spec.containers).toEqual([]);
  });

  it('reads a null inside a list or a map as the zero value', () => {
    const pod = decode(Pod, { metadata: { labels: { a: null } }, spec: { containers: [null] }, data: { k: null } });
    expect(pod.metadata.labels).toEqual({ a: '' });
    expect(pod.data).toEqual({ k: '' });
    expect(pod.spec.containers).toEqual([{ name: '', imagePullPolicy: 'IfNotPresent', resources: {} }]);
  });

  it('shares nothing with the input but what is free-form', () => {
    const input = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'a', args: ['x'] }] }, extra: {} };
    const pod = decode(Pod, input);
    expect(pod.extra).toBe(input.extra);
    expect(pod.metadata.labels).not.toBe(input.metadata.labels);
    expect(pod.spec.containers[0].args).not.toBe(input.spec.containers[0]!.args);
  });
});

describe('defaults', () => {
  const spec = (input: object) => decode(Pod, { spec: input }).spec;

  it('fill what is absent, inside defaults too, after the siblings and in order', () => {
    expect(spec({ graceSeconds: 50 })).toEqual({
      graceSeconds: 50,
      containers: [],
      policy: 'Normal',
      strategy: { type: 'Rolling', parts: ['a'] },
      copies: 5,
    });
  });

  it('are fresh each time', () => {
    spec({}).strategy.parts.push('b');
    expect(spec({}).strategy.parts).toEqual(['a']);
  });

  it('take the place of an empty string, and of an empty choice, but not of zero', () => {
    expect(spec({ policy: '' }).policy).toBe('Normal');
    expect(spec({ containers: [{ imagePullPolicy: '', image: 'x:latest' }] }).containers[0].imagePullPolicy).toBe(
      'Always',
    );
    expect(spec({ graceSeconds: 0 })).toMatchObject({ graceSeconds: 0, copies: 0 });
  });

  it('may be left out by a function', () => {
    const schema = s.object('T', { a: s.int32(), b: s.int32({ default: (t: any) => (t.a ? t.a + 1 : undefined) }) });
    expect(decode(schema, { a: 1 })).toEqual({ a: 1, b: 2 });
    expect(decode(schema, {})).toEqual({});
  });

  it('do not fill what is zero and may be left out, and what follows from others cannot be sent', () => {
    const schema = s.object('T', {
      count: s.int32({ omitZero: true }),
      flag: s.boolean({ omitZero: true }),
      alias: s.int32({ derive: (t: any) => t.count }),
    });
    expect(decode(schema, { count: 0, flag: false, alias: 7 })).toEqual({});
    expect(decode(schema, { count: 3, flag: true, alias: 7 })).toEqual({ count: 3, flag: true, alias: 3 });
  });

  it('of a parent that is absent do not make it appear', () => {
    expect(decode(Pod, {})).toEqual({ metadata: {} });
  });
});

describe('defaults that add up', () => {
  const field = s.string({ default: 'x'.repeat(100) });
  const wide = Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`field${i}`, field]));
  it.each([
    [
      'a list of objects',
      s.object('A', { list: s.list(s.object('Item', { a: field, b: field, c: field, d: field })) }),
      9_000,
    ],
    ['a list of objects with many fields', s.object('A', { list: s.list(s.object('Item', wide)) }), 175],
    [
      'a long default',
      s.object('A', { list: s.list(s.object('Item', { a: s.string({ default: 'x'.repeat(1e6) }) })) }),
      4,
    ],
  ])('are limited: %s', (_, schema, count) => {
    const items = (length: number) => ({ list: new Array(length).fill({}) });
    expect(() => decode(schema, items(count))).not.toThrow();
    const more = items(Math.ceil(count * 1.1));
    expect(() => decode(schema, more)).toThrow('defaults would add more than 4194304 characters');
    expect(() => decodeUnlimited(schema, more)).toThrow('defaults would add more than 4194304 characters');
  });
});

it('canonical forms are given to quantities, times, durations and bytes', () => {
  const pod = decode(Pod, {
    metadata: { created: '2024-02-29T12:00:00.9+02:00', renewed: '2024-02-29T12:00:00.123456+02:00' },
    spec: { timeout: '90m', containers: [{ resources: { limits: { cpu: 0.5, memory: ' 1024Ki ', gpu: 1 } } }] },
    data: { k: 'YWJj\nZA==' },
  });
  expect(pod.metadata).toEqual({ created: '2024-02-29T10:00:00Z', renewed: '2024-02-29T10:00:00.123456Z' });
  expect(pod.spec.timeout).toBe('1h30m0s');
  expect(pod.spec.containers[0].resources.limits).toEqual({ cpu: '500m', memory: '1Mi', gpu: '1' });
  expect(pod.data).toEqual({ k: 'YWJjZA==' });
});

describe('a wrong type', () => {
  const port = (value: unknown) => ({ spec: { containers: [{ ports: [{ containerPort: value }] }] } });

  it.each([
    [[], 'json: cannot unmarshal array into Go value of type v1.Pod'],
    ['x', 'json: cannot unmarshal string into Go value of type v1.Pod'],
    [null, 'json: cannot unmarshal object into Go value of type v1.Pod'],
    [{ spec: 1 }, 'json: cannot unmarshal number into Go struct field Pod.spec of type v1.PodSpec'],
    [
      { spec: { graceSeconds: 'x' } },
      'json: cannot unmarshal string into Go struct field PodSpec.spec.graceSeconds of type int64',
    ],
    [
      { spec: { graceSeconds: 1.5 } },
      'json: cannot unmarshal number 1.5 into Go struct field PodSpec.spec.graceSeconds of type int64',
    ],
    [
      { spec: { hostNetwork: 'yes' } },
      'json: cannot unmarshal string into Go struct field PodSpec.spec.hostNetwork of type bool',
    ],
    [
      { spec: { weight: '1' } },
      'json: cannot unmarshal string into Go struct field PodSpec.spec.weight of type float64',
    ],
    [
      { spec: { containers: {} } },
      'json: cannot unmarshal object into Go struct field PodSpec.spec.containers of type []v1.Container',
    ],
    [
      { spec: { containers: [{ name: 5 }] } },
      'json: cannot unmarshal number into Go struct field Container.spec.containers.name of type string',
    ],
    [
      port(2 ** 31),
      'json: cannot unmarshal number 2147483648 into Go struct field ContainerPort.spec.containers.ports.containerPort of type int32',
    ],
    [
      { spec: { containers: [{ ports: [{ targetPort: true }] }] } },
      'json: cannot unmarshal bool into Go struct field ContainerPort.spec.containers.ports.targetPort of type int32',
    ],
    [
      { metadata: { labels: { a: {} } } },
      'json: cannot unmarshal object into Go struct field ObjectMeta.metadata.labels of type string',
    ],
    [
      { metadata: { labels: [] } },
      'json: cannot unmarshal array into Go struct field ObjectMeta.metadata.labels of type map[string]string',
    ],
    [{ data: { k: 1 } }, 'json: cannot unmarshal number into Go struct field Pod.data of type []uint8'],
    [{ data: { k: '*' } }, 'illegal base64 data at input byte 0'],
    [{ data: { k: 'YWJjZ' } }, 'illegal base64 data at input byte 4'],
    [
      { spec: { containers: [{ resources: { limits: { cpu: 'lots' } } }] } },
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    ],
    [{ metadata: { created: 'x' } }, 'parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"'],
    [{ spec: { timeout: '5' } }, 'time: missing unit in duration "5"'],
  ])('%j: %s', (input, message) => {
    expect(thrown(input)).toBe(message);
  });

  it('is rejected where a shape contains itself too deeply, or free-form data does', () => {
    const deep = JSON.parse(`${'{"children":['.repeat(5000)}{}${']}'.repeat(5000)}`);
    expect(thrown({ tree: deep })).toBe('json: exceeded max depth');
    expect(thrown({ extra: deep })).toBe('json: exceeded max depth');
    expect(thrown({ bogus: deep })).toBe('nothing');
  });

  it('has no number that is too large for a double, which would be stored as null', () => {
    for (const large of JSON.parse('[1e999, -1e999]')) {
      for (const extra of [large, [large], { a: { b: [0, large] } }]) {
        expect(thrown({ extra })).toContain('it is out of range');
      }
    }
  });
});

/** JSON that often looks like a Pod. */
const { likely } = fc.letrec((tie) => ({
  scalar: fc.oneof(
    fc.constantFrom<unknown>(
      null,
      '',
      'TCP',
      '1',
      '5m',
      '1Gi',
      0,
      1,
      -1,
      1.5,
      2 ** 40,
      true,
      '2020-01-01T00:00:00Z',
      'YQ==',
    ),
    fc.string({ maxLength: 5 }),
  ),
  key: fc.oneof(
    { weight: 9, arbitrary: fc.constantFrom(...namesIn(Pod)) },
    { weight: 1, arbitrary: fc.constantFrom('__proto__', 'constructor', 'x') },
  ),
  likely: fc.oneof(
    { maxDepth: 6 },
    tie('scalar'),
    fc.array(tie('likely'), { maxLength: 3 }),
    fc.array(fc.tuple(tie('key') as fc.Arbitrary<string>, tie('likely')), { maxLength: 6 }).map(Object.fromEntries),
  ),
}));

function namesIn(schema: Schema, names = new Set<string>()): string[] {
  if (schema.type === 'object') {
    for (const [name, child] of Object.entries(schema.fields)) {
      names.add(name);
      namesIn(child, names);
    }
  } else if (schema.type === 'list') namesIn(schema.items, names);
  return [...names];
}

/** Reports whether the value has only fields that the schema describes. */
function conforms(schema: Schema, value: any): boolean {
  switch (schema.type) {
    case 'object':
      return Object.entries(value).every(
        ([key, child]) => Object.hasOwn(schema.fields, key) && conforms(schema.fields[key]!, child),
      );
    case 'list':
      return value.every((item: unknown) => conforms(schema.items, item));
    case 'map':
      return Object.values(value).every((item) => conforms(schema.values, item));
    case 'lazy':
      return conforms(schema.resolve(), value);
    default:
      return value !== undefined && (schema.type === 'any' || value !== null);
  }
}

const outcome = (input: unknown): unknown => {
  try {
    return decode(Pod, input);
  } catch (error) {
    expect(error).toBeInstanceOf(DecodeError);
    return undefined;
  }
};

it('for any JSON nothing but a DecodeError is thrown, and only what is described comes out', () => {
  forAll({ numRuns: 500 }, fc.oneof(fc.jsonValue(), likely), (input) => {
    const before = JSON.stringify(input);
    const out = outcome(input);
    if (out !== undefined) expect(conforms(Pod, out)).toBe(true);
    expect(JSON.stringify(input)).toBe(before);
  });
});

it('for any JSON decoding again changes nothing', () => {
  forAll(
    { numRuns: 500 },
    fc.array(fc.tuple(fc.constantFrom('metadata', 'spec', 'data', 'tree'), likely)),
    (entries) => {
      const once = outcome(Object.fromEntries(entries));
      if (once !== undefined) expect(JSON.stringify(decode(Pod, once))).toBe(JSON.stringify(once));
    },
  );
});

it('decodes objects with hundreds of fields like others', () => {
  const names = Array.from({ length: 500 }, (_, i) => `field${i}`);
  const Wide = s.object('Wide', {
    ...Object.fromEntries(names.map((name) => [name, s.int32()])),
    __proto: s.string(),
    last: s.enum(['a', 'b'], { default: 'a' }),
  }) as ObjectSchema;
  const input = { ...Object.fromEntries(names.map((name, i) => [name, i])), __proto: 'p', other: 1 };
  const { other, ...expected } = input;
  expect(decode(Wide, input)).toEqual({ ...expected, last: 'a' });
  expect(() => decode(Wide, { field499: 'text' })).toThrow('Wide.field499');
});
