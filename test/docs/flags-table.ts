/**
 * The tables of flags in the documents, made from the descriptions of the flags. A table stands between
 * `<!-- flags WORDS -->`, which names groups of `qd up --help` or beginnings of flags, and `<!-- end of flags -->`.
 */
import type { Flag } from '../../src/base/flag.ts';
import { flagGroups } from '../../src/cli/up/flags.ts';

const SECTION = /(<!-- flags ([^\n]*?) -->\n)([\s\S]*?)(<!-- end of flags -->)/g;

/** The text with all of its tables as they should be. */
export function withTables(text: string): string {
  return text.replace(SECTION, (_, begin: string, words: string, _old, end: string) => {
    return `${begin}${tableOf(words)}${end}`;
  });
}

/** The flags that the tables of a text show. */
export function flagsShown(text: string): readonly Flag[] {
  return [...text.matchAll(SECTION)].flatMap(([, , words]) => chosen(words!));
}

function tableOf(words: string): string {
  const rows = chosen(words).map((flag) => `| \`${spelling(flag)}\` |${defaultOf(flag)} | ${meaning(flag)} |\n`);
  return `| flag | default | |\n| --- | --- | --- |\n${rows.join('')}`;
}

function chosen(words: string): readonly Flag[] {
  const found = words.split(', ').flatMap((word): readonly Flag[] => {
    if (word.startsWith('--'))
      return flagGroups.flatMap(({ flags }) => flags.filter(({ spec }) => spec.startsWith(word)));
    return flagGroups.find(({ heading }) => heading === word)?.flags ?? [];
  });
  if (found.length === 0) throw new Error(`no flags of qd up are called ${words}`);
  return found;
}

/** `--port PORT` for `--port <port>`. */
function spelling({ spec }: Flag): string {
  return spec.replace(/ <(.+)>/, (_, value: string) => ` ${value.toUpperCase()}`).replace(/ \[.+\]/, '');
}

function defaultOf({ default: value, defaultText }: Flag): string {
  const text = defaultText ?? (value === undefined ? '' : String(value));
  const shown = text === 'false' ? 'off' : text === 'true' ? 'on' : text;
  return shown === '' ? '' : ` ${escaped(shown)}`;
}

function meaning({ help, choices, remembered }: Flag): string {
  const values = choices ? `: ${choices.map((choice) => `\`${choice}\``).join(', ')}` : '';
  return `${escaped(help)}${values}${remembered ? ' (remembered)' : ''}`;
}

/** Escapes a vertical bar, which ends a cell, and asterisks and angle brackets, which have another meaning. */
function escaped(text: string): string {
  return text.replace(/[|*<]/g, (char) => `\\${char}`);
}
