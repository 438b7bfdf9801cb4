/**
 * Replaces `$(NAME)` by the value of a variable. `$$` stands for a literal `$`; a reference that `lookUp` does not know, or
 * that is not closed, is left as it is.
 */
export function expand(text: string, lookUp: (name: string) => string | undefined): string {
  if (!text.includes('$')) return text;
  let out = '';
  let at = 0;
  while (at < text.length) {
    const dollar = text.indexOf('$', at);
    if (dollar < 0 || dollar + 1 >= text.length) break;
    out += text.slice(at, dollar);
    const next = text[dollar + 1];
    at = dollar + 2;
    if (next === '$') {
      out += '$';
      continue;
    }
    if (next !== '(') {
      out += `$${next}`;
      continue;
    }
    const end = text.indexOf(')', at);
    if (end < 0) {
      // No reference is closed from here on, but `$$` still stands for `$`.
      out += '$(';
      return out + text.slice(at).replaceAll('$$', () => '$');
    }
    const name = text.slice(at, end);
    out += lookUp(name) ?? `$(${name})`;
    at = end + 1;
  }
  return out + text.slice(at);
}
