import { expect, test } from 'vitest';
import { agentCommand } from './command.ts';
import { nodeConfig } from './node-config.ts';

test('flags of nodes have their defaults, although qd up remembers them', () => {
  expect(nodeConfig(agentCommand().opts())).toMatchObject({ maxPods: 110, liveConfigVolumes: false });
});
