/** The flags of a command line as a unit repeats them: one argument each, with absolute paths. */
import { resolve } from 'node:path';
import { type Flag, longName } from '../../../base/flag.ts';

/** `args` were parsed before, so that they are known to be right. Flags whose names are in `without` are left out. */
export function givenArguments(
  args: readonly string[],
  flags: readonly Flag[],
  without: ReadonlySet<string>,
): readonly string[] {
  const found: string[] = [];
  for (let i = 0; i < args.length; i++) {
    const [name = '', ...inline] = args[i]!.split('=');
    const flag = flags.find((each) => longName(each) === name);
    if (!flag) throw new Error(`expected a flag, and found ${args[i]}`);
    const next = args[i + 1];
    const takesNext = inline.length === 0 && (flag.spec.includes('<') || (flag.spec.includes('[') && isValue(next)));
    const value = inline.length > 0 ? inline.join('=') : takesNext ? next : undefined;
    if (takesNext) i++;
    if (!without.has(name)) found.push(value === undefined ? name : `${name}=${absolute(flag, value)}`);
  }
  return found;
}

const isValue = (text: string | undefined) => text !== undefined && !text.startsWith('-');

/** Units have another working directory. */
function absolute({ spec }: Flag, value: string): string {
  const isPath = /<(?:file|dir)>/.test(spec) && value !== '' && value !== '-';
  return isPath ? resolve(value) : value;
}
