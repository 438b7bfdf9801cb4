import { expect, it } from 'vitest';
import type { Controller } from '../../../controllers/loop/define.ts';
import { chosen } from './controllers-flag.ts';

const all = ['deployment', 'namespace', 'replicaset'].map((name) => ({ name }) as Controller);
const names = (...controllers: string[]) => chosen(all, { controllers }).map(({ name }) => name);

it('runs all, some, or all but some', () => {
  expect(names('*')).toEqual(['deployment', 'namespace', 'replicaset']);
  expect(names('namespace', 'deployment')).toEqual(['deployment', 'namespace']);
  expect(names('*', '-deployment')).toEqual(['namespace', 'replicaset']);
  expect(names('namespace', '-namespace')).toEqual([]);
});

it('says which there are when one is not', () => {
  expect(() => names('*', '-deploy')).toThrow('"-deploy" is none of *, deployment, namespace, replicaset, scheduler');
});
