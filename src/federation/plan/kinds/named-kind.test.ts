import { expect, it } from 'vitest';
import type { FederatedType } from '../../../kinds/groups/federation/federated-type.ts';
import { namedKind } from './named-kind.ts';

const boats = (replicasPath: string) =>
  namedKind({
    metadata: { name: 'boats.example.com' },
    spec: { version: 'v1', kind: 'Boat', scope: 'Namespaced', replicasPath },
  } as FederatedType).replicas!;
const boat = (spec: object = {}) => ({ apiVersion: 'example.com/v1', kind: 'Boat', metadata: { name: 'a' }, spec });
const SHARE = { actual: undefined, before: 0 };

it.each(['spec.berths', '.spec.berths'])('divides the number at %s', (path) => {
  const desired = boat({ colour: 'red' });
  boats(path).set(desired, 3, SHARE);
  expect(desired).toEqual(boat({ colour: 'red', berths: 3 }));
  expect([boats(path).of(desired), boats(path).of(boat())]).toEqual([3, 1]);
});

it('sets nothing but fields of the object, whatever their names', () => {
  const { keys } = Object;
  const desired = boat();
  boats('constructor.keys').set(desired, 3, SHARE);
  boats('spec.constructor.polluted').set(desired, 3, SHARE);
  const isReplaced = Object.keys !== keys;
  Object.keys = keys;
  expect({ isReplaced, polluted: Reflect.get(Object, 'polluted') }).toEqual({ isReplaced: false, polluted: undefined });
  expect(desired.spec).toEqual({ constructor: { polluted: 3 } });
});

it.each(['metadata.name', 'kind', 'apiVersion', 'status.berths', '__proto__.berths', '.'])(
  'does not divide %s',
  (path) => {
    expect(() => boats(path)).toThrow(`spec.replicasPath ${path} names no field that can be divided`);
  },
);
