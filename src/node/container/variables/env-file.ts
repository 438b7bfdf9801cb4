/**
 * Reads one variable from an environment file: `NAME='value'` lines, where a value is in single quotes and may span lines.
 * Blank lines, comments, and comments after a value are skipped. Returns an empty text when the variable is not there.
 */
export class EnvFileError extends Error {
  override readonly name = 'EnvFileError';
}

export function variableInFile(text: string, key: string): string {
  const lines = text.replace(/\n$/, '').split('\n');
  for (let index = 0; index < lines.length; index++) {
    const line = withoutReturn(lines[index]!).replace(/^[ \t]+/, '');
    if (line === '' || line.startsWith('#')) continue;
    const equals = line.indexOf('=');
    if (equals < 0) throw malformed(index, "missing '='");
    const name = line.slice(0, equals);
    if (name.trim() === '') throw malformed(index, 'empty variable name');
    if (/[ \t]$/.test(name)) throw malformed(index, "whitespace before '=' is not allowed");
    const value = line.slice(equals + 1);
    if (/^[ \t]/.test(value)) {
      // As in a shell, the variable is empty.
      if (name === key) return '';
      continue;
    }
    if (!value.startsWith("'")) throw malformed(index, 'value must be enclosed in single quotes');
    const first = index;
    const parts: string[] = [];
    let rest = value.slice(1);
    for (;;) {
      const close = rest.indexOf("'");
      if (close >= 0) {
        parts.push(rest.slice(0, close));
        const after = rest.slice(close + 1).replace(/^[ \t]+/, '');
        if (after !== '' && !after.startsWith('#')) throw malformed(index, 'unexpected content after closing quote');
        break;
      }
      parts.push(rest);
      index++;
      if (index >= lines.length) {
        throw new EnvFileError(
          `invalid environment variable format starting at line ${first + 1}: unclosed single quote`,
        );
      }
      rest = withoutReturn(lines[index]!);
    }
    if (name === key) return parts.join('\n');
  }
  return '';
}

const withoutReturn = (line: string): string => (line.endsWith('\r') ? line.slice(0, -1) : line);

function malformed(index: number, why: string): EnvFileError {
  return new EnvFileError(`invalid environment variable format at line ${index + 1}: ${why}`);
}
