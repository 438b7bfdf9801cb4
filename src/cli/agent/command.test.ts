import { expect, test } from 'vitest';
import { agentCommand } from './command.ts';

test('flags of nodes have their defaults, although qd up remembers them', () => {
  expect(agentCommand().opts()).toMatchObject({ maxPods: 110 });
});
