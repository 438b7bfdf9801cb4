/** Checks that a command in a document exists: the program, its subcommand, and its flags. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Command } from 'commander';
import { commands } from '../../src/cli/commands.ts';
import { DESCRIPTION, programOf } from '../../src/cli/process/program.ts';
import { qdfedCommands } from '../../src/cli/qdfed/commands.ts';
import { root } from '../architecture/source.ts';
import { kubectls } from '../e2e/kubectl.ts';

const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

/** Returns the error in a command, or undefined. Foreign programs are only checked for their subcommand. */
export function whyUnknown(command: string): string | undefined {
  const [program = '', ...args] = command.split(/\s+/);
  switch (program) {
    case 'qd':
    case 'qdfed':
      return whyUnknownQd(program, args);
    case 'npx':
      return args[0] === 'qd' || args[0] === 'qdfed' ? whyUnknownQd(args[0], args.slice(1)) : undefined;
    case 'npm':
      return whyUnknownScript(args);
    case 'kubectl':
      return whyUnknownKubectl(args);
    default:
      return undefined;
  }
}

const programs: Readonly<Record<string, Command>> = {
  qd: programOf('qd', DESCRIPTION, commands()),
  qdfed: programOf('qdfed', 'Administers a federation of clusters.', qdfedCommands()),
};

/** The help of a command, which is asked for in this process: starting a program for each takes half a minute. */
function helpOf(program: string, path: readonly string[]): string {
  return commandAt(program, path)?.helpInformation() ?? '';
}

function commandAt(program: string, path: readonly string[]): Command | undefined {
  const find = (command: Command | undefined, name: string) => command?.commands.find((each) => each.name() === name);
  return path.reduce(find, programs[program]);
}

/** Names under the heading `Commands:` of a help, besides `help` itself. */
function subcommandsOf(help: string): string[] {
  const [, section = ''] = /^Commands:\n([\s\S]*?)(?:\n\n|$(?![\s\S]))/m.exec(help) ?? [];
  return [...section.matchAll(/^ {2}([a-z-]+)/gm)].map(([, name]) => name!).filter((name) => name !== 'help');
}

function flagsOf(help: string): string[] {
  return [...help.matchAll(/^ {2}(?:(-\w), )?(--[a-z-]+)/gm)].flatMap(([, short, long]) => [short ?? long!, long!]);
}

function whyUnknownQd(program: string, args: readonly string[]): string | undefined {
  const path: string[] = [];
  let rest = args.filter((arg) => arg !== '…');
  for (;;) {
    const names = subcommandsOf(helpOf(program, path));
    const [next] = rest;
    if (names.length === 0 || next === undefined || next.startsWith('-')) break;
    // A command may have arguments as well, such as `qd history KIND`.
    if (!names.includes(next) && commandAt(program, path)?.registeredArguments.length) break;
    if (!names.includes(next)) return `${[program, ...path].join(' ')} has no command ${next}`;
    path.push(next);
    rest = rest.slice(1);
  }
  const flags = flagsOf(helpOf(program, path));
  const unknown = rest.map((arg) => arg.split('=')[0]!).find((arg) => /^--?[a-z]/.test(arg) && !flags.includes(arg));
  return unknown === undefined ? undefined : `${[program, ...path].join(' ')} has no flag ${unknown}`;
}

/** Flags of our own programs are spelled in their sources. */
function whyUnknownScript(args: readonly string[]): string | undefined {
  const OF_NPM = ['install', 'pack', 'link', 'ci', 'exec'];
  const [first = '', ...rest] = args[0] === 'run' ? args.slice(1).filter((arg) => arg !== '-s') : args;
  if (OF_NPM.includes(first)) return undefined;
  const script: string | undefined = scripts[first];
  if (script === undefined) return `package.json has no script ${first}`;
  const given = rest.slice(rest.indexOf('--') + 1);
  if (first === 'start') return whyUnknownQd('qd', ['up', ...given]);
  const source = sourceOf(script);
  const unknown = given.filter((arg) => arg.startsWith('--')).find((arg) => !source.includes(arg.slice(2)));
  return unknown === undefined ? undefined : `npm run ${first} has no flag ${unknown}`;
}

function sourceOf(script: string): string {
  const [file = ''] = script.split(' ').filter((word) => /\.(ts|mjs)$/.test(word));
  const folders = file.startsWith('scripts/bench') ? ['scripts', 'bench'] : [dirname(file)];
  return folders
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
        .filter((name) => /\.(ts|mjs)$/.test(name))
        .map((name) => readFileSync(join(root, folder, name), 'utf8')),
    )
    .join('\n');
}

let helpOfKubectl: string | undefined;

function whyUnknownKubectl(args: readonly string[]): string | undefined {
  const { program } = kubectls.find(({ isNewest }) => isNewest) ?? {};
  if (program === undefined || !existsSync(program)) return undefined;
  const OPTIONS_WITH_VALUE = ['-n', '--namespace', '--context', '--kubeconfig', '--as'];
  const name = args.find((arg, index) => !arg.startsWith('-') && !OPTIONS_WITH_VALUE.includes(args[index - 1] ?? ''));
  if (name === undefined) return undefined;
  helpOfKubectl ??= spawnSync(program, ['--help'], { encoding: 'utf8' }).stdout;
  const isKnown = new RegExp(`^ {2}${name} `, 'm').test(helpOfKubectl);
  return isKnown ? undefined : `kubectl has no command ${name}`;
}

/** Returns all flags of all commands of both programs. */
export function allFlags(): ReadonlySet<string> {
  const found = new Set<string>();
  const visit = (program: string, path: readonly string[]) => {
    const help = helpOf(program, path);
    for (const flag of flagsOf(help)) found.add(flag);
    for (const name of subcommandsOf(help)) visit(program, [...path, name]);
  };
  visit('qd', []);
  visit('qdfed', []);
  return found;
}
