import { join } from 'node:path';
import { expect, test } from 'vitest';
import { clustersHome } from '../flags/cluster.ts';
import { commandFor } from './command-for.ts';

const installed = { program: '/usr/bin/qd', byNpm: false };

test.each([
  ['quarterdeck', join(clustersHome(), 'quarterdeck'), installed, 'qd down'],
  ['dev', join(clustersHome(), 'dev'), installed, 'qd down --name dev'],
  ['dev', '/srv/dev', installed, 'qd down --data-dir /srv/dev'],
  ['dev', join(clustersHome(), 'dev'), { program: '/clone/dist/qd.js', byNpm: false }, 'npx qd down --name dev'],
  ['dev', join(clustersHome(), 'dev'), { program: '/npx/bin/qd', byNpm: true }, 'npx qd down --name dev'],
])('cluster %s in %s, started by %o', (name, directory, start, command) => {
  expect(commandFor('down', name, directory, start)).toBe(command);
});
