/**
 * Sends hostile input to all code that reads client input: decoding, validation and the three patches. Each file of the
 * corpus is tried against all of them; then inputs are made by breaking well-formed ones. `FUZZ_RUNS` sets their
 * number. A failing input is worth a new file in the corpus.
 */
import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { clone, deepFreeze } from '../../src/base/json/tree.ts';
import { allKinds } from '../../src/kinds/all.ts';
import type { Version } from '../../src/kinds/kind.ts';
import { DecodeError, decode } from '../../src/schema/decode/decode.ts';
import { applyJsonPatch } from '../../src/schema/patch/json-patch.ts';
import { applyMergePatch } from '../../src/schema/patch/merge-patch.ts';
import { PatchError } from '../../src/schema/patch/patch-error.ts';
import { applyStrategicMergePatch } from '../../src/schema/patch/strategic-merge.ts';
import { validate } from '../../src/schema/validate.ts';

const RUNS = Number(process.env.FUZZ_RUNS ?? 300);
const CORPUS = new URL('./corpus/schema/', import.meta.url);

const corpus = readdirSync(CORPUS).map((file): [string, unknown] => [
  file,
  JSON.parse(readFileSync(new URL(file, CORPUS), 'utf8')),
]);

const versions = allKinds.flatMap((kind) => kind.versions.map((version) => ({ kind, version })));
const podVersion = versions.find(({ kind }) => kind.kind === 'Pod')!.version;

const pod = deepFreeze({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: 'a',
    namespace: 'b',
    labels: { app: 'web' },
    finalizers: ['example.com/x', 'example.com/y'],
    ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'u' }],
    managedFields: [{ manager: 'm', operation: 'Update', fieldsV1: { 'f:spec': {} } }],
  },
  spec: {
    containers: [
      {
        name: 'a',
        image: 'a:1',
        ports: [{ containerPort: 80 }, { containerPort: 81 }],
        env: [{ name: 'A', value: '1' }],
      },
      { name: 'b', image: 'b:1', resources: { limits: { cpu: '1', memory: '1Gi' } } },
    ],
    volumes: [{ name: 'v', emptyDir: {} }],
    tolerations: [{ key: 'x', operator: 'Exists' }],
    nodeSelector: { disk: 'ssd' },
  },
});

/** Runs an action that may only fail with errors of this class; undefined when it did. */
function survive<T>(expected: new (...args: never[]) => Error, action: () => T): T | undefined {
  try {
    return action();
  } catch (error) {
    if (!(error instanceof expected)) throw error;
    expect(error.message).not.toBe('');
    expect(error.message.length).toBeLessThan(1_000_000);
    return undefined;
  }
}

function decodeAndValidate({ schema }: Version, input: unknown): void {
  const object = survive(DecodeError, () => decode(schema, input, { unknown: () => {} }));
  if (!object) return;
  expect(Object.getPrototypeOf(object)).toBe(Object.prototype);
  const text = JSON.stringify(object);
  expect(JSON.stringify(decode(schema, object))).toBe(text);
  const context = { subresource: undefined, apiVersion: undefined };
  for (const { field, message } of [
    ...validate(schema, object, { ...context, operation: 'create', old: undefined }),
    ...validate(schema, object, { ...context, operation: 'update', old: pod }),
  ]) {
    expect(typeof field).toBe('string');
    expect(message).not.toBe('');
  }
  expect(JSON.stringify(object)).toBe(text);
}

/** Attacks every target with one input. */
function attack(input: unknown): void {
  const patch = deepFreeze(clone(input));
  const patched = [
    survive(PatchError, () => applyMergePatch(pod, patch)),
    survive(PatchError, () => applyStrategicMergePatch(podVersion.schema, pod, patch)),
    survive(PatchError, () => applyJsonPatch(pod, patch)),
  ];
  for (const tree of [patch, ...patched]) decodeAndValidate(podVersion, tree);
  expect(Object.keys(Object.prototype)).toEqual([]);
  expect(Object.getPrototypeOf({})).toBe(Object.prototype);
}

describe('the corpus', () => {
  it.each(corpus)('%s', (_, input) => {
    attack(input);
    for (const { version } of versions) decodeAndValidate(version, input);
  });

  const nested = (open: string, close: string, depth: number) =>
    JSON.parse(`${open.repeat(depth)}1${close.repeat(depth)}`);

  it.each([
    ['{"spec":', '}'],
    ['{"metadata":', '}'],
    ['[', ']'],
    ['{"metadata":{"managedFields":[{"fieldsV1":', '}]}}'],
    ['{"$patch":', '}'],
    ['{"spec":{"containers":[', ']}}'],
  ])('%s a hundred thousand times', (open, close) => {
    const input = nested(open, close, 100_000);
    for (const target of [
      () => applyMergePatch(pod, input),
      () => applyStrategicMergePatch(podVersion.schema, pod, input),
      () => applyJsonPatch(pod, input),
      () => applyJsonPatch(pod, [{ op: 'add', path: '/metadata/x', value: input }]),
      () => applyJsonPatch(pod, [{ op: 'test', path: '/metadata', value: input }]),
    ]) {
      survive(PatchError, target);
    }
    for (const { version } of versions) survive(DecodeError, () => decode(version.schema, input));
  });
});

/** Names and values that have a meaning for the attacked code. */
const keys = [
  ...['metadata', 'spec', 'status', 'containers', 'name', 'labels', 'finalizers', 'ports', 'containerPort', 'volumes'],
  ...['ownerReferences', 'uid', 'image', 'resources', 'limits', 'cpu', 'env', 'managedFields', 'fieldsV1', 'emptyDir'],
  ...['$patch', '$retainKeys', '$setElementOrder/containers', '$setElementOrder/finalizers', '$setElementOrder/name'],
  ...['$deleteFromPrimitiveList/finalizers', '$deleteFromPrimitiveList/containers', '$setElementOrder', ''],
  ...['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'op', 'path', 'value', 'from'],
];
const scalars = [
  ...[
    null,
    true,
    false,
    0,
    -1,
    1.5,
    1e21,
    2 ** 53,
    80,
    '',
    'a',
    'b',
    '1',
    '-1',
    '1e9',
    '1Gi',
    'delete',
    'replace',
    'merge',
  ],
  ...['2020-01-01T00:00:00Z', '\u0000', '\ud800', 'x'.repeat(300), 'add', 'remove', 'move', 'copy', 'test'],
  ...[
    '/metadata',
    '/metadata/labels/app',
    '/spec/containers/0',
    '/spec/containers/-',
    '/spec/containers/-1/name',
    '/~1~0',
  ],
];

const { json, operation } = fc.letrec((tie) => ({
  scalar: fc.constantFrom<unknown>(...scalars),
  key: fc.constantFrom(...keys),
  json: fc.oneof(
    { maxDepth: 6, depthSize: 'small' },
    tie('scalar'),
    fc.array(tie('json'), { maxLength: 4 }),
    fc
      .array(fc.tuple(tie('key') as fc.Arbitrary<string>, tie('json')), { maxLength: 5 })
      .map((entries) =>
        JSON.parse(`{${entries.map(([k, v]) => `${JSON.stringify(k)}:${JSON.stringify(v)}`).join(',')}}`),
      ),
  ),
  operation: fc.record(
    {
      op: fc.constantFrom('add', 'remove', 'replace', 'move', 'copy', 'test', 'x'),
      path: fc
        .array(fc.constantFrom(...keys, '0', '1', '-', '-1'), { maxLength: 4 })
        .map((steps) => steps.map((s) => `/${s}`).join('')),
      from: fc
        .array(fc.constantFrom(...keys, '0', '-1'), { maxLength: 3 })
        .map((steps) => steps.map((s) => `/${s}`).join('')),
      value: tie('json'),
    },
    { requiredKeys: ['op', 'path'], noNullPrototype: true },
  ),
}));

/** A well-formed tree with one place replaced by anything. */
const broken = (tree: unknown) =>
  fc.tuple(fc.nat(), json).map(([at, value]) => {
    let left = at % countNodes(tree);
    const walk = (node: unknown): unknown => {
      if (left-- === 0) return value;
      if (Array.isArray(node)) return node.map(walk);
      if (typeof node !== 'object' || node === null) return node;
      return Object.fromEntries(Object.entries(node).map(([key, child]) => [key, walk(child)]));
    };
    return walk(tree);
  });

function countNodes(tree: unknown): number {
  if (typeof tree !== 'object' || tree === null) return 1;
  return Object.values(tree).reduce((sum: number, child) => sum + countNodes(child), 1);
}

describe('whatever comes in', () => {
  it('is decoded or rejected, patches or does not, and nothing else happens', () => {
    fc.assert(fc.property(json, attack), { numRuns: RUNS });
  });

  it('can be a broken object', () => {
    fc.assert(fc.property(broken(pod), attack), { numRuns: RUNS });
  });

  it('can be a list of operations', () => {
    fc.assert(fc.property(fc.array(operation, { maxLength: 6 }), attack), { numRuns: RUNS });
  });

  it('can be sent to any kind', () => {
    fc.assert(
      fc.property(fc.constantFrom(...versions), json, ({ version }, input) => decodeAndValidate(version, input)),
      { numRuns: RUNS },
    );
  });
});
