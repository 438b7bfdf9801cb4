/** Splits an expression into tokens. */
import type { Issue } from './issues.ts';

type TokenKind = 'identifier' | 'int' | 'uint' | 'double' | 'string' | 'bytes' | 'operator' | 'end';

export interface Token {
  readonly kind: TokenKind;
  readonly text: string;
  readonly position: number;
}

/** Number of errors after which the rest of the text is not looked at, as in cel-go. */
const MAX_ERRORS = 100;

const SPACE = /(?:[\t\n\f\r ]+|\/\/[^\n]*)+/y;
const IDENTIFIER = /[A-Za-z_][A-Za-z0-9_]*/y;
const NUMBER = /(?:0x[0-9a-fA-F]+|[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|\.[0-9]+(?:[eE][+-]?[0-9]+)?)[uU]?/y;
const STRING_START = /(?:[rR][bB]?|[bB][rR]?)?(?:"""|'''|"|')/y;
const OPERATOR = /==|!=|<=|>=|&&|\|\||\.\?|\[\?|[-+*/%<>!?:.,()[\]{}]/y;

/** Reads all tokens; the last one is `end`. Text that is no token is reported and skipped. */
export function tokenize(source: string, report: (issue: Issue) => void): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    return pattern.exec(source)?.[0];
  };
  const push = (kind: TokenKind, text: string) => {
    tokens.push({ kind, text, position: at });
    at += text.length;
  };
  let errors = 0;
  while (at < source.length) {
    const space = take(SPACE);
    if (space !== undefined) {
      at += space.length;
      continue;
    }
    const opening = take(STRING_START);
    const text = opening === undefined ? undefined : stringToken(source, at, opening);
    if (text !== undefined) {
      push(/^[rR]?[bB]/.test(text) ? 'bytes' : 'string', text);
      continue;
    }
    const number = opening === undefined ? take(NUMBER) : undefined;
    if (number !== undefined) {
      push(numberKind(number), number);
      continue;
    }
    const word = opening === undefined ? take(IDENTIFIER) : undefined;
    if (word !== undefined) {
      push('identifier', word);
      continue;
    }
    const operator = opening === undefined ? take(OPERATOR) : undefined;
    if (operator !== undefined) {
      push('operator', operator);
      continue;
    }
    const bad = opening === undefined ? String.fromCodePoint(source.codePointAt(at)!) : restOfLine(source, at);
    if (errors++ === MAX_ERRORS) {
      report({ position: at, message: `More than ${MAX_ERRORS} syntax errors` });
      break;
    }
    report({ position: at, message: `Syntax error: token recognition error at: '${bad}'` });
    at += bad.length;
  }
  tokens.push({ kind: 'end', text: '<EOF>', position: source.length });
  return tokens;
}

function numberKind(text: string): TokenKind {
  if (/[uU]$/.test(text)) return 'uint';
  if (text.startsWith('0x')) return 'int';
  return /[.eE]/.test(text) ? 'double' : 'int';
}

/** The whole text of a string or bytes literal; undefined when it does not end. */
function stringToken(source: string, start: number, opening: string): string | undefined {
  const quote = opening.replace(/^[rRbB]+/, '');
  const raw = /^[bB]?[rR]/.test(opening);
  for (let at = start + opening.length; at < source.length; at++) {
    const character = source[at]!;
    if (character === '\\' && !raw) at++;
    else if (quote.length === 1 && (character === '\n' || character === '\r')) return undefined;
    else if (character === quote[0] && source.startsWith(quote, at)) return source.slice(start, at + quote.length);
  }
  return undefined;
}

function restOfLine(source: string, start: number): string {
  const end = source.slice(start).search(/[\r\n]/);
  return end === -1 ? source.slice(start) : source.slice(start, start + Math.max(end, 1));
}
