import { expect, it } from 'vitest';
import { fc, forAll } from '../../../../../test/support/property-runs.ts';
import { encodeChange, splice, writeSpliced } from '../../cache/entry/encoding.ts';
import { parseStored } from '../../cache/entry/stored-object.ts';
import { internSet } from './interned-sets.ts';
import { type ManagedFieldsEntry, managedEntry } from './managed-entry.ts';

const HEAD = '{"kind":"Pod","apiVersion":"v1","metadata":{'.length;

const podWith = (managedFields: unknown): any => ({
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: { name: 'a', managedFields },
  spec: {},
});

function servedFrom(stored: Buffer): any {
  const source = splice(stored, HEAD, { selfLink: '/x', revision: 7 });
  const out = Buffer.alloc(source.length);
  expect(writeSpliced(source, out, 0)).toBe(source.length);
  return JSON.parse(out.toString());
}

const status = (ip: string) => ({
  'f:status': {
    'f:podIPs': { '.': {}, [`k:{"ip":"${ip}"}`]: { '.': {}, 'f:ip': {} } },
    ...Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`f:field${index + 10}`, {}])),
  },
});

const entry = (manager: string, fields: any, more: object = {}): ManagedFieldsEntry =>
  managedEntry({
    ...{ manager, operation: 'Update', apiVersion: 'v1', subresource: 'status', time: '2030-01-01T00:00:00Z' },
    ...more,
    set: internSet(fields),
  });

it('managers in stored bytes take a fraction of their served size, and read back unchanged', () => {
  const entries = [
    entry('kubelet', status('10.0.0.1')),
    entry('é "quoted", {"f:x', status('fd00::7'), { time: undefined }),
  ];
  const plain = JSON.parse(JSON.stringify(entries));
  const { bytes } = encodeChange(podWith(entries));
  expect(bytes.length).toBeLessThan(JSON.stringify(entries).length / 2);
  expect(bytes.toString()).not.toContain('f:status');
  expect(servedFrom(bytes).metadata).toEqual({
    name: 'a',
    selfLink: '/x',
    resourceVersion: '7',
    managedFields: plain,
  });
  const read: any = parseStored(bytes);
  expect(JSON.parse(JSON.stringify(read))).toEqual(podWith(plain));
  expect({ ...read.metadata.managedFields[0] }).toEqual(plain[0]);
  // Unpacked managers are stored as before.
  expect(encodeChange(read).bytes.toString()).toBe(bytes.toString());
});

it('managers in stored bytes share compressed lists between objects that differ in addresses', () => {
  const packed = ['10.0.0.1', '10.9.8.7'].map((ip) => {
    const { bytes } = encodeChange(podWith([entry('kubelet', status(ip))]));
    return /"manager":"(\S+) /.exec(bytes.toString())![1];
  });
  expect(packed[1]).toBe(packed[0]);
});

it('managers in stored bytes are stored unpacked when they are short, and read in that form', () => {
  const plain = JSON.parse(JSON.stringify([entry('me', { 'f:data': { 'f:a': {} } })]));
  const { bytes } = encodeChange(podWith(plain));
  expect(JSON.parse(bytes.toString())).toEqual(podWith(plain));
  const before = Buffer.from(JSON.stringify(podWith([JSON.parse(JSON.stringify(entry('me', status('10.0.0.1'))))])));
  expect(servedFrom(before).metadata.managedFields[0].fieldsV1).toEqual(status('10.0.0.1'));
  expect(parseStored(before)).toEqual(JSON.parse(before.toString()));
});

it('managers in stored bytes read back unchanged, whatever they contain', () => {
  const name = fc.string({ unit: 'grapheme', maxLength: 20 });
  const leaf = fc.constant({});
  const element = fc.oneof(
    name.map((text) => `f:${text}`),
    name.map((text) => `v:${JSON.stringify(text)}`),
    fc.tuple(fc.constantFrom('ip', 'uid', 'name'), name).map(([key, text]) => `k:${JSON.stringify({ [key]: text })}`),
    fc.constantFrom('k:{"ip":"10.0.0.1"}', 'k:{"ip":"10.0.0.2"}', 'k:{"uid":"a-b-c"}'),
  );
  const fields = fc.dictionary(element, fc.dictionary(element, leaf, { maxKeys: 4 }), { minKeys: 1, maxKeys: 30 });
  const times = fc.constantFrom('2030-01-01T00:00:00Z', '2031-01-01T00:00:00.123456Z', undefined);
  const managers = fc.array(fc.record({ manager: name, subresource: name, time: times, fields }), {
    minLength: 1,
    maxLength: 4,
  });
  forAll({ numRuns: 100 }, managers, (list) => {
    const entries = list.map(({ manager, fields: tree, ...more }) => entry(manager, tree, more));
    const plain = JSON.parse(JSON.stringify(entries));
    const { bytes } = encodeChange(podWith(entries));
    expect(servedFrom(bytes).metadata.managedFields).toEqual(plain);
    expect(JSON.parse(JSON.stringify(parseStored(bytes)))).toEqual(podWith(plain));
  });
});
