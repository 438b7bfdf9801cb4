/** Parses the flags of a cluster's last start, which another release may have accepted, one by one. */
import { Command, type CommanderError } from 'commander';
import { type Flag, longName } from '../../../../base/flag.ts';
import { addFlags } from '../../../flags/add-flags.ts';
import { upFlags } from '../../flags.ts';
import type { GivenFlags } from '../../settings/settle.ts';

export interface StartFlags {
  readonly accepted: GivenFlags;
  /** What is wrong with the others, one line each. */
  readonly rejected: readonly string[];
}

/** `args`: from `up` on. */
export function parseStart(args: readonly string[], flags: readonly Flag[] = upFlags): StartFlags {
  const accepted: string[] = [];
  const rejected: string[] = [];
  for (const words of groupsOf(args.slice(args[0] === 'up' ? 1 : 0), flags)) {
    try {
      parse(words, flags);
      accepted.push(...words);
    } catch (error) {
      rejected.push((error as CommanderError).message.replace(/^error: /, ''));
    }
  }
  return { accepted: parse(accepted, flags), rejected };
}

/** Each flag with its value. */
function groupsOf(args: readonly string[], flags: readonly Flag[]): string[][] {
  const groups: string[][] = [];
  for (const word of args) {
    const last = groups.at(-1);
    const isValue = last !== undefined && takesNext(last, flags) && (!word.startsWith('-') || needsNext(last, flags));
    if (isValue) last.push(word);
    else groups.push([word]);
  }
  return groups;
}

const flagOf = ([word = '']: readonly string[], flags: readonly Flag[]) =>
  flags.find((flag) => longName(flag) === word);

/** One of an unknown flag is taken to be its value. */
function takesNext(words: readonly string[], flags: readonly Flag[]): boolean {
  const [word = ''] = words;
  if (words.length > 1 || !word.startsWith('--') || word.includes('=')) return false;
  const flag = flagOf(words, flags);
  return flag === undefined || /[<[]/.test(flag.spec);
}

const needsNext = (words: readonly string[], flags: readonly Flag[]) =>
  flagOf(words, flags)?.spec.includes('<') === true;

function parse(args: readonly string[], flags: readonly Flag[]): GivenFlags {
  const command = new Command('up')
    .exitOverride()
    .helpOption(false)
    .allowExcessArguments(false)
    .configureOutput({ writeErr: () => {}, outputError: () => {} })
    .showSuggestionAfterError(false);
  return addFlags(command, flags)
    .action(() => undefined)
    .parse([...args], { from: 'user' })
    .opts();
}
