import { describe, expect, it } from 'vitest';
import { dnsSubdomain, nameRule, pathSegmentName } from '../../../schema/names.ts';
import type { ObjectMeta } from './object-meta.ts';
import { validateObjectMeta } from './object-meta-rules.ts';

const context = { operation: 'create', old: undefined, nameRule: nameRule(dnsSubdomain), namespaced: true } as const;
const told = (meta: ObjectMeta, more: Partial<Parameters<typeof validateObjectMeta>[1]> = {}) =>
  validateObjectMeta(meta, { ...context, ...more }).map(({ field, message }) => `${field}: ${message}`);
const fine = { name: 'a', namespace: 'default' };
const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'r', uid: 'u' };

describe('the metadata of a new object', () => {
  it('is fine with everything in order', () => {
    const meta: ObjectMeta = {
      ...fine,
      generateName: 'a-',
      labels: { app: 'x', 'example.com/Tier': '' },
      annotations: { 'Example.COM/note': 'anything: goes' },
      ownerReferences: [owner, { ...owner, uid: 'v', controller: true }],
      finalizers: ['kubernetes', 'orphan', 'example.com/x'],
      managedFields: [{ manager: 'kubectl', operation: 'Update', fieldsType: 'FieldsV1' }],
    };
    expect(told(meta)).toEqual([]);
  });

  it('has a name', () => {
    expect(told({ namespace: 'default' })).toEqual(['name: Required value: name or generateName is required']);
    expect(told({ ...fine, name: 'Bad_Name' })[0]).toMatch(/^name: Invalid value: "Bad_Name": a lowercase RFC 1123/);
    expect(told({ ...fine, generateName: '-' })[0]).toMatch(/^generateName: Invalid value: "-": a lowercase RFC 1123/);
  });

  it('has a name that the store can take, also where any characters are allowed', () => {
    const any = { nameRule: pathSegmentName };
    expect(told({ ...fine, name: 'x'.repeat(1024) }, any)).toEqual([]);
    expect(told({ ...fine, name: 'ä'.repeat(513) }, any)[0]).toMatch(/must be no more than 1024 bytes$/);
    const stored = { ...fine, name: 'ä'.repeat(513) };
    expect(told(stored, { ...any, operation: 'update', old: stored })).toEqual([]);
  });

  it('has a namespace exactly where there are namespaces', () => {
    expect(told({ name: 'a' })).toEqual(['namespace: Required value']);
    expect(told({ ...fine, namespace: 'a.b' })).toEqual(['namespace: Invalid value: "a.b": must not contain dots']);
    expect(told(fine, { namespaced: false })).toEqual(['namespace: Forbidden: not allowed on this type']);
    expect(told({ name: 'a' }, { namespaced: false })).toEqual([]);
  });

  it('has labels and annotations that selectors and tools can name', () => {
    expect(told({ ...fine, labels: { '': 'a', b: '-' } }).map((line) => line.slice(0, 45))).toEqual([
      'labels: Invalid value: "": name part must be ',
      'labels: Invalid value: "": name part must con',
      'labels: Invalid value: "-": a valid label mus',
    ]);
    expect(told({ ...fine, annotations: { 'a/b/c': '' } })[0]).toMatch(
      /^annotations: Invalid value: "a\/b\/c": a valid label/,
    );
    expect(told({ ...fine, annotations: { a: 'é'.repeat(131_072) } })).toEqual([
      'annotations: Too long: may not be more than 262144 bytes',
    ]);
  });

  it('has owners that can be found, and one controller', () => {
    const blank = { apiVersion: '', kind: '', name: '', uid: '' };
    expect(told({ ...fine, ownerReferences: [blank] })).toEqual([
      'ownerReferences.apiVersion: Invalid value: "": version must not be empty',
      'ownerReferences.kind: Invalid value: "": must not be empty',
      'ownerReferences.name: Invalid value: "": must not be empty',
      'ownerReferences.uid: Invalid value: "": must not be empty',
    ]);
    expect(told({ ...fine, ownerReferences: [{ ...owner, apiVersion: 'v1', kind: 'Event' }] })).toEqual([
      'ownerReferences: Invalid value: {"apiVersion":"v1","kind":"Event","name":"r","uid":"u"}: /v1, Kind=Event is disallowed from being an owner',
    ]);
    const controllers = [
      { ...owner, controller: true },
      { ...owner, name: 's', uid: 'v', controller: true },
    ];
    expect(told({ ...fine, ownerReferences: controllers })).toEqual([
      `ownerReferences: Invalid value: ${JSON.stringify(controllers)}: Only one reference can have Controller set to true. Found "true" in references for ReplicaSet/r and ReplicaSet/s`,
    ]);
  });

  it('has finalizers that say whose they are', () => {
    expect(told({ ...fine, finalizers: ['mine'] })).toEqual([
      'finalizers[0]: Invalid value: "mine": name is neither a standard finalizer name nor is it fully qualified',
    ]);
    expect(told({ ...fine, finalizers: ['orphan', 'foregroundDeletion'] })).toEqual([
      'finalizers: Invalid value: ["orphan","foregroundDeletion"]: finalizer orphan and foregroundDeletion cannot be both set',
    ]);
  });

  it('has no odd generation or managed fields', () => {
    expect(told({ ...fine, generation: -1 })).toEqual([
      'generation: Invalid value: -1: must be greater than or equal to 0',
    ]);
    expect(told({ ...fine, managedFields: [{ fieldsType: 'X', manager: 'm'.repeat(129) }] })).toEqual([
      'managedFields[0].operation: Invalid value: "": must be `Apply` or `Update`',
      'managedFields[0].fieldsType: Invalid value: "X": must be `FieldsV1`',
      'managedFields[0].manager: Too long: may not be more than 128 bytes',
    ]);
  });
});

describe('the metadata of an object that changes', () => {
  const old: ObjectMeta = { ...fine, uid: 'u', creationTimestamp: '2024-01-01T00:00:00Z', generation: 2 };
  const update = (meta: ObjectMeta, before = old) => told(meta, { operation: 'update', old: before });

  it('stays who it is', () => {
    expect(update(old)).toEqual([]);
    expect(update({ ...fine, name: 'b', uid: 'v', generation: 1 })).toEqual([
      'generation: Invalid value: 1: must not be decremented',
      'name: Invalid value: "b": field is immutable',
      'uid: Invalid value: "v": field is immutable',
      'creationTimestamp: Invalid value: null: field is immutable',
    ]);
  });

  it('need not have a name that would be given today', () => {
    expect(update({ ...old, name: 'Old_Name' }, { ...old, name: 'Old_Name' })).toEqual([]);
  });

  it('gets no new finalizers once it is going', () => {
    const going: ObjectMeta = { ...old, deletionTimestamp: '2024-01-02T00:00:00Z', finalizers: ['a.b/c'] };
    expect(update({ ...going, finalizers: ['z.z/z', 'a.b/c', 'd.e/f'] }, going)).toEqual([
      'finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"d.e/f", "z.z/z"}',
    ]);
    expect(update({ ...going, finalizers: [] }, going)).toEqual([]);
  });
});

describe('what an update leaves as it was', () => {
  const labels = { 'not a key': 'x' };
  const old = { ...fine, labels } as ObjectMeta;

  it('is not checked again', () => {
    expect(told({ ...old, annotations: {} }, { operation: 'update', old })).toEqual([]);
  });

  it('is checked as soon as it is another value', () => {
    expect(told({ ...old, labels: { ...labels } }, { operation: 'update', old })[0]).toMatch(/^labels: Invalid value/);
    expect(told({ ...old, annotations: labels }, { operation: 'update', old })[0]).toMatch(/^annotations: Invalid/);
  });
});
