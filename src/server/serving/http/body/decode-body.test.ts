import { describe, expect, it } from 'vitest';
import { allKinds } from '../../../../kinds/all.ts';
import { Registry } from '../../../objects/registry/registry.ts';
import { allSubresources } from '../../../operations/subresources/all.ts';
import { ProtobufBodies } from '../../protobuf/bodies.ts';
import { defaultLimits as limits } from '../limits.ts';
import { decodeConfiguration, decodeObject, decodeOptions, decodePatch } from './decode-body.ts';

const protobuf = new ProtobufBodies(new Registry(allKinds, allSubresources), limits.maxDepth);
const purpose = { kind: 'Pod', apiVersion: 'v1', confidential: false, limits, protobuf };

const object = async (text: string, format: 'json' | 'yaml' = 'json') =>
  decodeObject(Buffer.from(text), format, purpose);

describe('an object', () => {
  it('is neither null nor empty', async () => {
    for (const read of [() => object('null'), () => object(' null\n', 'yaml'), () => object('', 'yaml')]) {
      await expect(read()).rejects.toMatchObject({ reason: 'BadRequest' });
      await expect(read()).rejects.toThrow('cannot unmarshal null into Go value of type Pod');
    }
  });

  it('is accepted as JSON although it is declared as YAML, even with more values than YAML may have', async () => {
    const labels = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`label-${i}`, 'x']));
    expect(await object(JSON.stringify({ metadata: { labels } }), 'yaml')).toEqual({ metadata: { labels } });
    expect(await object('{a: b}', 'yaml')).toEqual({ a: 'b' });
  });

  it.each([
    ['{"kind":', 'couldn\'t get version/kind; json parse error: unexpected end of JSON input ({"kind":)'],
    ['nope', "json parse error: unexpected token 'o' (6e6f7065)"],
    [
      '[]',
      "couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of type Pod (5b5d)",
    ],
    ['"x"', 'cannot unmarshal string'],
    ['{"kind":5}', 'cannot unmarshal number into Go struct field .kind of type string'],
    ['{"apiVersion":{}}', 'cannot unmarshal object into Go struct field .apiVersion of type string'],
    [`{"a":${'x'.repeat(50)}`, `({"a":${'x'.repeat(25)} ...)`],
  ])('rejects %s', async (text, message) => {
    await expect(object(text)).rejects.toMatchObject({ reason: 'BadRequest' });
    await expect(object(text)).rejects.toThrow('the object provided is unrecognized (must be of type Pod): ');
    await expect(object(text)).rejects.toThrow(message);
  });

  it.each([
    ['{"data":{"password":"c3dvcmRmaXNo"', 'json', 'c3dvcmRmaXNo'],
    ['password: swordfish: oops', 'yaml', Buffer.from('swordfish').toString('hex')],
  ] as const)('%s is rejected without a word of it, where it is a secret', (text, format, secret) => {
    const failure = (async () =>
      decodeObject(Buffer.from(text), format, { ...purpose, kind: 'Secret', confidential: true }))();
    return failure.then(
      () => expect.fail('it was taken'),
      ({ message }) => {
        expect(message).toMatch(/\(<secret contents redacted>\)$/);
        expect(message).not.toContain(secret);
      },
    );
  });

  it('is rejected in YAML with the line number', async () => {
    await expect(object('a: b\nc: d: e', 'yaml')).rejects.toThrow(
      'the object provided is unrecognized (must be of type Pod): error converting YAML to JSON: yaml: line 2: ',
    );
  });

  it('is rejected if it is not UTF-8', async () => {
    const bytes = Buffer.from([0x61, 0x3a, 0x20, 0xff]);
    expect(() => decodeObject(bytes, 'yaml', purpose)).toThrow('not valid UTF-8');
  });

  it('can be protobuf', async () => {
    const bytes = Buffer.from('k8s\0\x12\x05\x0a\x03\x0a\x01a');
    expect(await decodeObject(bytes, 'protobuf', purpose)).toEqual({
      ...{ kind: 'Pod', apiVersion: 'v1' },
      metadata: { name: 'a' },
    });
    expect(() => decodeObject(Buffer.from('{}'), 'protobuf', purpose)).toThrow(
      'the object provided is unrecognized (must be of type Pod): provided data does not appear to be a protobuf message',
    );
  });
});

it('reports invalid delete options', async () => {
  await expect(decodeOptions(Buffer.from('{"a":'), 'json', purpose)).rejects.toThrow(
    /^couldn't get version\/kind; json parse error: unexpected end of JSON input$/,
  );
});

it('delete options are not null: who sends null may have lost the preconditions', async () => {
  for (const [text, format] of [['null', 'json'] as const, [' null\n', 'json'] as const, ['~', 'yaml'] as const]) {
    await expect(decodeOptions(Buffer.from(text), format, purpose)).rejects.toThrow('cannot unmarshal null');
  }
});

const patch = (text: string, type: 'json' | 'merge' | 'strategic') => decodePatch(Buffer.from(text), type, { limits });

it('a patch is a list of operations or an object', () => {
  expect(patch('[]', 'json')).toEqual([]);
  expect(patch('{"a":1}', 'merge')).toEqual({ a: 1 });
  expect(patch('{}', 'strategic')).toEqual({});
});

it.each([
  ['', 'merge', 'error decoding patch: json parse error: unexpected end of JSON input'],
  ['{}', 'json', 'error decoding patch: json: cannot unmarshal object into a json patch'],
  ['[]', 'merge', 'error decoding patch: json: cannot unmarshal array into a merge patch'],
  ['null', 'strategic', 'error decoding patch: json: cannot unmarshal null into a strategic patch'],
  ['5', 'merge', 'error decoding patch: json: cannot unmarshal number into a merge patch'],
] as const)('a patch: %s is no %s patch', (text, type, message) => {
  expect(() => patch(text, type)).toThrow(message);
});

const repeated = async (text: string) => {
  let found: readonly string[] = [];
  const onDuplicates = (faults: readonly string[]) => {
    found = faults;
  };
  return { body: await decodeConfiguration(Buffer.from(text), { limits, onDuplicates }), found };
};

it('a configuration has duplicate keys reported with their lines', async () => {
  expect(await repeated('\nkind: A\nspec:\n  foo: 1\n  foo: 2\n')).toEqual({
    body: { kind: 'A', spec: { foo: 2 } },
    found: ['line 5: key "foo" already set in map'],
  });
  expect(await repeated('{"kind":"A",\n"spec":{"foo":1,"foo":2}}')).toEqual({
    body: { kind: 'A', spec: { foo: 2 } },
    found: ['line 2: key "foo" already set in map'],
  });
  expect((await repeated('{"kind":"A"}')).found).toEqual([]);
});
