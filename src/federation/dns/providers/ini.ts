/** The configuration of a DNS provider: an INI file with one section, `[Global]`, as the first federation had it. */
import { DnsError } from '../provider.ts';

/**
 * Returns the keys of the section `[Global]`, in lower case. Empty for an absent file. Throws a DnsError that names the
 * line of a syntax error, of another section or of an unknown key.
 */
export function globalSection(text: string | undefined, known: readonly string[]): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  let section: string | undefined;
  for (const [index, line] of (text ?? '').split(/\r?\n/).entries()) {
    const fail = (problem: string) => new DnsError('Invalid', `line ${index + 1}: ${problem}`);
    const trimmed = line.trim();
    if (trimmed === '' || trimmed.startsWith('#') || trimmed.startsWith(';')) continue;
    const head = /^\[\s*([^\]]*?)\s*\]$/.exec(trimmed);
    if (head) {
      section = head[1]!.toLowerCase();
      if (section !== 'global') throw fail(`the section [${head[1]}] is unknown; the only one is [Global]`);
      continue;
    }
    const separator = trimmed.indexOf('=');
    if (separator <= 0) throw fail('a key and a value are expected: key = value');
    if (section === undefined) throw fail('the section [Global] is expected before the first key');
    const key = trimmed.slice(0, separator).trim().toLowerCase();
    if (!known.includes(key)) throw fail(`the key "${key}" is unknown; known: ${known.join(', ')}`);
    const value = unquoted(trimmed.slice(separator + 1).trim());
    if (value === undefined) throw fail(`the quotation mark of the value of "${key}" is not closed`);
    values.set(key, value);
  }
  return values;
}

/** A value in quotation marks may contain `#` and `;`, which otherwise start a comment after a space. */
function unquoted(text: string): string | undefined {
  if (!text.startsWith('"')) return text.replace(/(?:^|\s+)[#;].*$/, '');
  const quoted = /^"((?:[^"\\]|\\.)*)"\s*(?:[#;].*)?$/.exec(text);
  return quoted?.[1]?.replace(/\\(.)/g, '$1');
}

/** The value of a key that must be given. */
export function required(values: ReadonlyMap<string, string>, key: string): string {
  const value = values.get(key);
  if (!value) throw new DnsError('Invalid', `the key "${key}" of the section [Global] is required`);
  return value;
}

/** The items of a list that is separated by commas. */
export function listOf(value: string | undefined): readonly string[] {
  return (value ?? '')
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}
