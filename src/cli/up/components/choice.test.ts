import { expect, it } from 'vitest';
import type { Controller } from '../../../controllers/loop/define.ts';
import { checkControllers, chosen } from './choice.ts';

const all = ['deployment', 'namespace', 'replicaset'].map((name) => ({ name }) as Controller);
const names = (...controllers: string[]) => chosen(all, { controllers }).map(({ name }) => name);

it('runs all, some, or all but some', () => {
  expect(names('*')).toEqual(['deployment', 'namespace', 'replicaset']);
  expect(names('namespace', 'deployment')).toEqual(['deployment', 'namespace']);
  expect(names('*', '-deployment')).toEqual(['namespace', 'replicaset']);
  expect(names('namespace', '-namespace')).toEqual([]);
});

it('lists the controllers when one is unknown', () => {
  const check = (...controllers: string[]) =>
    checkControllers(
      { controllers },
      all.map(({ name }) => name),
    );
  expect(() => check('*', '-deploy')).toThrow(
    '"-deploy" is not one of *, deployment, namespace, replicaset, scheduler',
  );
  expect(() => check('*', '-scheduler', 'namespace')).not.toThrow();
});

it('knows the names of all controllers before any of them is prepared', () => {
  expect(() => checkControllers({ controllers: ['node', 'node-ipam', '-deployment'] })).not.toThrow();
});
