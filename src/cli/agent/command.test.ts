import { expect, test } from 'vitest';
import { agentCommand } from './command.ts';
import { nodeConfig } from './node-config.ts';
import { settleAgent } from './settle.ts';

test('flags of nodes have their defaults, although qd up remembers them', () => {
  expect(nodeConfig(settleAgent(agentCommand().opts(), {}), false)).toMatchObject({
    maxPods: 110,
    podPidsLimit: 4096,
    allowsHostImage: false,
    liveConfigVolumes: false,
  });
});
