import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { Pod } from '../../kinds/groups/core/pod/pod.ts';
import { decodeJson } from './body/json.ts';
import { defaultLimits } from './limits.ts';
import { RepeatedBodies } from './repeated-bodies.ts';

const version = Pod.hub;
const spec = {
  containers: [
    {
      name: 'web',
      image: 'registry.example.com/shop/web:1.24.3',
      args: ['--config=/etc/shop/config.yaml', '--listen=0.0.0.0:8080', 'ä "quoted" \\ word'],
      resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { cpu: '500m', memory: '256Mi' } },
      env: [{ name: 'POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }],
    },
  ],
};
const SPEC = JSON.stringify(spec);
const bytes = (text: string) => Buffer.from(text);
const named = (name: string) => `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"${name}"}`;

let bodies: RepeatedBodies;
beforeEach(() => {
  bodies = new RepeatedBodies(defaultLimits.maxDepth);
});

describe.each([
  ['ends with its spec', `,"spec":${SPEC}}`],
  ['goes on behind it', `,"spec":${SPEC},"status":{"phase":"Pending"}}\n`],
])('a body that %s', (_, end) => {
  it('is not known before it was learned', () => {
    expect(bodies.read(bytes(named('a') + end), version)).toBeUndefined();
  });

  it('is what a parser makes of it, whatever stands before', () => {
    bodies.learn(bytes(named('a') + end), version, spec);
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }), { minKeys: 1 }), (start) => {
        const { spec: _spec, status: _status, kind: _kind, apiVersion: _version, ...rest } = start;
        const text = JSON.stringify({ metadata: {}, ...rest }).slice(0, -1) + end;
        const read = bodies.read(bytes(text), version);
        if (read !== undefined) expect(read).toEqual(decodeJson(bytes(text), defaultLimits.maxDepth));
      }),
    );
    expect(bodies.read(bytes(named('b') + end), version)).toEqual(JSON.parse(named('b') + end));
  });

  it.each([
    ['nothing', ''],
    ['an open object', '{'],
    ['an open member', '{"metadata":{"name":"b"'],
    ['an open text', '{"metadata":{"name":"b}'],
    ['a list', '["a"'],
    ['another spec', `${named('b')},"spec":{}`],
    ['a key that stands twice', '{"metadata":{"name":"a","name":"b"}'],
    ['a hostile key', '{"metadata":{"name":"b"},"__proto__":{"x":1}'],
    ['a hostile key in disguise', '{"metadata":{"name":"b"},"\\u005f_proto__":{"x":1}'],
    ['a kind that is no text', '{"kind":5,"metadata":{"name":"b"}'],
    ['much nesting', `{"metadata":${'['.repeat(2000)}${']'.repeat(2000)}`],
  ])('is left to the parser behind %s', (_what, start) => {
    bodies.learn(bytes(named('a') + end), version, spec);
    expect(bodies.read(bytes(start + end), version)).toBeUndefined();
  });

  it('is left to the parser behind what is no text', () => {
    bodies.learn(bytes(named('a') + end), version, spec);
    const broken = Buffer.concat([bytes('{"metadata":{"name":"'), Buffer.from([0xff]), bytes('"}'), bytes(end)]);
    expect(bodies.read(broken, version)).toBeUndefined();
  });
});

it.each([
  ['that knows no such field', `,"spec":${SPEC.slice(0, -1)},"containerz":[]}}`],
  ['in which something stands twice', `,"spec":${SPEC.slice(0, -1)},"hostname":"a","hostname":"b"}}`],
  ['that is no object', `,"spec":"${'x'.repeat(500)}"}`],
  ['that is large', `,"spec":${SPEC.replace('POD_NAME', 'x'.repeat(17_000))}}`],
  ['that is small', ',"spec":{"containers":[]}}'],
])('does not learn a spec %s', (_, end) => {
  bodies.learn(bytes(named('a') + end), version, spec);
  expect(bodies.read(bytes(named('b') + end), version)).toBeUndefined();
});

it('does not take the spec of something inside for that of the object', () => {
  const end = `,"template":{"a":1,"spec":${SPEC}}}`;
  bodies.learn(bytes(named('a') + end), version, spec);
  expect(bodies.read(bytes(named('b') + end), version)).toBeUndefined();
});

it('keeps those that come most lately, and no more than it can look through', () => {
  const end = (image: number) => `,"spec":${SPEC.replace('1.24.3', String(image))}}`;
  for (let i = 0; i < 17; i++) bodies.learn(bytes(named('a') + end(i)), version, spec);
  expect(bodies.read(bytes(named('b') + end(0)), version)).toBeUndefined();
  expect(bodies.read(bytes(named('b') + end(1)), version)).toBeDefined();
  bodies.learn(bytes(named('a') + end(17)), version, spec);
  expect(bodies.read(bytes(named('b') + end(1)), version)).toBeDefined();
  expect(bodies.read(bytes(named('b') + end(2)), version)).toBeUndefined();
});
