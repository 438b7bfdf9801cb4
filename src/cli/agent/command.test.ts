import { expect, test } from 'vitest';
import { agentCommand } from './command.ts';

test('flags of nodes that are not given have their defaults', () => {
  const command = agentCommand();
  command.parseOptions([]);
  expect(command.opts()).toMatchObject({ maxPods: 110, runtime: 'auto', clusterDomain: 'cluster.local' });
});
