import { join } from 'node:path';
import { expect, test } from 'vitest';
import { clustersHome } from '../flags/cluster.ts';
import { commandFor } from './command-for.ts';

test.each([
  ['quarterdeck', join(clustersHome(), 'quarterdeck'), '/usr/bin/qd', 'qd down'],
  ['dev', join(clustersHome(), 'dev'), '/usr/bin/qd', 'qd down --name dev'],
  ['dev', '/srv/dev', '/usr/bin/qd', 'qd down --data-dir /srv/dev'],
  ['dev', join(clustersHome(), 'dev'), '/home/me/quarterdeck/dist/qd.js', 'npx qd down --name dev'],
])('cluster %s in %s, run by %s', (name, directory, program, command) => {
  expect(commandFor('down', name, directory, program)).toBe(command);
});
