/**
 * Reads words as systemd does: systemd.syntax(7) about quotes and escapes, systemd.unit(5) about specifiers, and systemd.service(5) about
 * variables in arguments.
 */

const ESCAPES: Readonly<Record<string, string>> = {
  ...{ a: '\x07', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v', s: ' ' },
  ...{ '\\': '\\', '"': '"', "'": "'" },
};

export function parsedWords(text: string, { hasVariables = false } = {}): string[] {
  const words: string[] = [];
  let word: string | undefined;
  let quote = '';
  for (let i = 0; i < text.length; i++) {
    const character = text[i]!;
    if (character === '\\') {
      const next = text[++i]!;
      if (next === 'x') {
        word = (word ?? '') + String.fromCharCode(Number.parseInt(text.slice(i + 1, i + 3), 16));
        i += 2;
      } else {
        const known = ESCAPES[next];
        if (known === undefined) throw new Error(`unknown escape \\${next}`);
        word = (word ?? '') + known;
      }
    } else if (character === quote) quote = '';
    else if (quote === '' && (character === '"' || character === "'")) {
      quote = character;
      word ??= '';
    } else if (quote === '' && character === ' ') {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else word = (word ?? '') + character;
  }
  if (quote !== '') throw new Error('an open quote');
  if (word !== undefined) words.push(word);
  return words.map((each, i) => resolved(each, hasVariables && i > 0));
}

function resolved(word: string, hasVariables: boolean): string {
  const specified = word.replace(/%(.?)/g, (_, letter: string) => {
    if (letter !== '%') throw new Error(`a specifier: %${letter}`);
    return '%';
  });
  if (!hasVariables) return specified;
  return specified.replace(/\$(.?)/g, (_, letter: string) => {
    if (letter !== '$') throw new Error(`a variable: $${letter}`);
    return '$';
  });
}
