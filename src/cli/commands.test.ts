import { type Command, CommanderError } from 'commander';
import { describe, expect, test } from 'vitest';
import { commands } from './commands.ts';

/** Commands that are about no cluster which exists already, and how they name what they start. */
const OTHERS: Readonly<Record<string, string>> = {
  up: 'creates the cluster that --name names',
  agent: 'is a node: --server names the cluster',
  'service install': 'takes the flags of up and of agent',
  list: 'shows all clusters',
  restore: 'creates the cluster that --name names',
  'federation-apiserver': 'is a server',
  'federation-controller-manager': 'is a server',
};

/** Arguments that not any word can be. */
const ARGUMENTS: Readonly<Record<string, string>> = {
  duration: '1h',
  file: import.meta.filename,
  token: 'abcdef.0123456789abcdef',
  what: 'serving',
};

interface Leaf {
  readonly path: readonly string[];
  readonly command: Command;
}

function leaves(command: Command, path: readonly string[] = [command.name()]): Leaf[] {
  if (command.commands.length === 0) return [{ path, command }];
  return command.commands.flatMap((each) => leaves(each, [...path, each.name()]));
}

/** Names of a command and of those that it belongs to. */
const namesOf = ({ path }: Leaf) => path.map((_, i) => path.slice(0, i + 1).join(' '));

const all = commands().flatMap((command) => leaves(command));

const aboutClusters = all
  .filter((leaf) => !namesOf(leaf).some((name) => name in OTHERS))
  .map((leaf) => [leaf.path.join(' '), leaf] as const);

async function run({ path }: Leaf, flags: readonly string[]): Promise<void> {
  const program = commands().find((command) => command.name() === path[0])!;
  const all = (command: Command): Command[] => [command, ...command.commands.flatMap(all)];
  for (const each of all(program)) each.exitOverride().configureOutput({ outputError: () => {} });
  const { command } = leaves(program).find((leaf) => leaf.path.join(' ') === path.join(' '))!;
  const args = command.registeredArguments
    .filter((argument) => argument.name() !== 'path')
    .map((argument) => ARGUMENTS[argument.name()] ?? 'x');
  await program.parseAsync([...path.slice(1), ...args, ...flags], { from: 'user' });
}

test('the exceptions are commands', () => {
  const names = all.flatMap(namesOf);
  expect(names).toEqual(expect.arrayContaining(Object.keys(OTHERS)));
});

describe.each(aboutClusters)('qd %s', (_, leaf) => {
  test.each([
    ['--name', '--context'],
    ['--data-dir', '--context'],
    ['--name', '--kubeconfig'],
  ])('takes %s and %s, and not both', async (one, other) => {
    const outcome = run(leaf, [one, 'no-such-cluster', other, 'no-such-context']);
    await expect(outcome).rejects.not.toBeInstanceOf(CommanderError);
    await expect(outcome).rejects.toThrow(`${one} and ${other} exclude each other`);
  });
});
