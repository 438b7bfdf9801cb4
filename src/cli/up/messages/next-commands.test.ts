import { expect, test } from 'vitest';
import { type NextCommandsOptions, nextCommands } from './next-commands.ts';

const real: NextCommandsOptions = {
  runtime: 'process',
  nodes: 1,
  executor: 'containers',
  allowsHostImage: true,
  imageLoad: 'qd image load',
};

const imageOf = (options: NextCommandsOptions) => /--image=(\S+)/.exec(nextCommands(options).kubectl.join('\n'))?.[1];

test.each(['containers', 'plain'] as const)('suggests the image host on process nodes with %s', (executor) => {
  expect(imageOf({ ...real, executor })).toBe('host');
  expect(nextCommands({ ...real, executor }).note).toBeUndefined();
});

test('says what images need where they are pulled', () => {
  for (const options of [
    { ...real, allowsHostImage: false },
    { ...real, runtime: 'containerd' as const },
  ]) {
    expect(imageOf(options)).toBe('nginx');
    expect(nextCommands(options).note).toContain('qd image load FILE');
  }
});

test('suggests no pods where none can run', () => {
  const { kubectl, note } = nextCommands({ ...real, executor: 'plain', allowsHostImage: false });
  expect(kubectl.join('\n')).not.toContain('--image');
  expect(note).toContain('--allow-host-image');
  expect(imageOf({ ...real, nodes: 0 })).toBeUndefined();
});

test('suggests any image for simulated pods', () => {
  expect(imageOf({ ...real, runtime: 'simulated', allowsHostImage: false })).toBe('nginx');
});
