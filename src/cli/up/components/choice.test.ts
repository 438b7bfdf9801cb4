import { expect, it } from 'vitest';
import { checkControllers, isChosen } from './choice.ts';

const all = ['deployment', 'namespace', 'replicaset'];
const names = (...controllers: string[]) => all.filter((name) => isChosen(name, { controllers }));

it('runs all, some, or all but some', () => {
  expect(names('*')).toEqual(['deployment', 'namespace', 'replicaset']);
  expect(names('namespace', 'deployment')).toEqual(['deployment', 'namespace']);
  expect(names('*', '-deployment')).toEqual(['namespace', 'replicaset']);
  expect(names('namespace', '-namespace')).toEqual([]);
});

it('lists the controllers when one is unknown', () => {
  const check = (...controllers: string[]) => checkControllers({ controllers }, all);
  expect(() => check('*', '-deploy')).toThrow(
    '"-deploy" is not one of *, deployment, namespace, replicaset, scheduler',
  );
  expect(() => check('*', '-scheduler', 'namespace')).not.toThrow();
});

it('knows the names of all controllers before any of them is prepared', () => {
  expect(() => checkControllers({ controllers: ['node', 'node-ipam', '-deployment'] })).not.toThrow();
});
