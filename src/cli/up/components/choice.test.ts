import { expect, it } from 'vitest';
import type { Controller } from '../../../controllers/loop/define.ts';
import { chosen } from './choice.ts';

const all = ['deployment', 'namespace', 'replicaset'].map((name) => ({ name }) as Controller);
const names = (...controllers: string[]) => chosen(all, { controllers }).map(({ name }) => name);

it('runs all, some, or all but some', () => {
  expect(names('*')).toEqual(['deployment', 'namespace', 'replicaset']);
  expect(names('namespace', 'deployment')).toEqual(['deployment', 'namespace']);
  expect(names('*', '-deployment')).toEqual(['namespace', 'replicaset']);
  expect(names('namespace', '-namespace')).toEqual([]);
});

it('lists the controllers when one is unknown', () => {
  expect(() => names('*', '-deploy')).toThrow(
    '"-deploy" is not one of *, deployment, namespace, replicaset, scheduler',
  );
});
