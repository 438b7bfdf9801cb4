import { homedir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { choiceOf } from './choice.ts';

const named = (name: string) => ({ by: 'directory', directory: join(homedir(), '.quarterdeck', name), name });
const IN_ENVIRONMENT = { QD_CLUSTER: 'env' };

test.each([
  ['a name', { name: 'dev' }, {}, named('dev')],
  ['a directory', { dataDir: '/data' }, {}, { by: 'directory', directory: '/data' }],
  ['a context', { context: 'work' }, {}, { by: 'context', context: 'work' }],
  ['a kubeconfig', { kubeconfig: '/k' }, {}, { by: 'context', kubeconfig: '/k' }],
  ['nothing', {}, {}, { by: 'default' }],
  ['an empty variable', {}, { QD_CLUSTER: '' }, { by: 'default' }],
  ['the environment', {}, IN_ENVIRONMENT, named('env')],
  ['a name, which takes precedence over the environment', { name: 'dev' }, IN_ENVIRONMENT, named('dev')],
  ['a directory, which does', { dataDir: '/data' }, IN_ENVIRONMENT, { by: 'directory', directory: '/data' }],
  ['a context, which does', { context: 'work' }, IN_ENVIRONMENT, { by: 'context', context: 'work' }],
])('a cluster is chosen by %s', (_, flags, env, choice) => {
  expect(choiceOf(flags, env)).toEqual(choice);
});

test('two flags that say it differently are an error', () => {
  expect(() => choiceOf({ name: 'dev', context: 'work' }, {})).toThrow('--name and --context exclude each other');
});

test('the variable is named when its value cannot be a name', () => {
  expect(() => choiceOf({}, { QD_CLUSTER: '../up' })).toThrow(
    'the environment variable QD_CLUSTER is invalid: It must be at most 63',
  );
});
