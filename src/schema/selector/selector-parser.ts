/** Parses the text form of label selectors: `a=b,c!=d,e in (x,y),f notin (z),g,!h,i>1`. */
import {
  keyErrors,
  type Operator,
  oneText,
  type Requirement,
  requirementOf,
  SelectorError,
} from './selector-requirement.ts';

export type { Operator, Requirement } from './selector-requirement.ts';

/** Parsing takes microseconds per character, and anyone may send a selector, also in a review. */
const MAX_SELECTOR_LENGTH = 64 * 1024;

/** A watch tests all of them for every change, and a list for every object. How many values one names makes no difference. */
const MAX_REQUIREMENTS = 250;

/** Throws a SelectorError when a selector has too many requirements. */
export function checkCount<T>(requirements: T[]): T[] {
  if (requirements.length <= MAX_REQUIREMENTS) return requirements;
  throw new SelectorError(
    `the selector has ${requirements.length} requirements, which is more than ${MAX_REQUIREMENTS}`,
  );
}

/** Throws a SelectorError when the text is too long for a selector. */
export function checkLength(text: string): string {
  if (text.length <= MAX_SELECTOR_LENGTH) return text;
  throw new SelectorError(`the selector has ${text.length} characters, which is more than ${MAX_SELECTOR_LENGTH}`);
}

export function parseRequirements(text: string): Requirement[] {
  const tokens = new Tokens(checkLength(text));
  const requirements: Requirement[] = [];
  for (;;) {
    if (tokens.next.type === 'end') return checkCount(requirements);
    if (!tokens.startsRequirement) {
      throw new SelectorError(`found '${tokens.next.text}', expected: !, identifier, or 'end of string'`);
    }
    requirements.push(requirement(tokens));
    const after = tokens.take();
    if (after.type === 'end') return checkCount(requirements);
    if (after.type !== ',') throw new SelectorError(`found '${after.text}', expected: ',' or 'end of string'`);
    if (!tokens.startsRequirement) {
      throw new SelectorError(`found '${tokens.next.text}', expected: identifier after ','`);
    }
  }
}

type TokenType = '=' | '==' | '!=' | '!' | '(' | ')' | ',' | '<' | '>' | 'word' | 'end';

interface Token {
  readonly type: TokenType;
  readonly text: string;
}

const END: Token = { type: 'end', text: '' };

/** Tokens of a selector. The position decides whether `in` is an operator or a name. */
class Tokens {
  readonly #tokens: Token[] = [];
  #at = 0;

  constructor(text: string) {
    // A NUL ends the text.
    const pattern = /[ \t\r\n]*(?:(==|!=|[=!(),<>])|([^ \t\r\n=!(),<>\0]+))/y;
    for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
      this.#tokens.push(match[1] ? { type: match[1] as TokenType, text: match[1] } : { type: 'word', text: match[2]! });
    }
  }

  get next(): Token {
    return this.#tokens[this.#at] ?? END;
  }

  get startsRequirement(): boolean {
    return this.next.type === 'word' || this.next.type === '!';
  }

  take(): Token {
    const token = this.next;
    this.#at++;
    return token;
  }
}

function requirement(tokens: Tokens): Requirement {
  try {
    const negated = tokens.next.type === '!';
    if (negated) tokens.take();
    const key = tokens.take();
    if (key.type !== 'word') throw new SelectorError(`found '${key.text}', expected: identifier`);
    const wrong = keyErrors(key.text, '<nil>');
    if (wrong.length) throw new SelectorError(oneText(wrong));
    const ends = tokens.next.type === 'end' || tokens.next.type === ',';
    if (negated || ends) return requirementOf(key.text, negated ? '!' : 'exists', []);
    const operator = operatorOf(tokens.take());
    const values = operator === 'in' || operator === 'notin' ? valueList(tokens) : [exactValue(tokens)];
    return requirementOf(key.text, operator, values);
  } catch (error) {
    if (!(error instanceof SelectorError)) throw error;
    throw new SelectorError(`unable to parse requirement: ${error.message}`, { cause: error });
  }
}

function operatorOf({ type, text }: Token): Operator {
  switch (type) {
    case '=':
    case '==':
    case '!=':
    case '>':
    case '<':
      return type;
    default:
      if (text === 'in' || text === 'notin') return text;
      throw new SelectorError(`found '${text}', expected: in, notin, =, ==, !=, gt, lt`);
  }
}

function exactValue(tokens: Tokens): string {
  if (tokens.next.type === 'end' || tokens.next.type === ',') return '';
  const { type, text } = tokens.take();
  if (type !== 'word') throw new SelectorError(`found '${text}', expected: identifier`);
  return text;
}

/** `(a,b)`; an omitted value is the empty string. */
function valueList(tokens: Tokens): string[] {
  const open = tokens.take();
  if (open.type !== '(') throw new SelectorError(`found '${open.text}' expected: '('`);
  if (!['word', ',', ')'].includes(tokens.next.type)) {
    throw new SelectorError(`found '${tokens.next.text}', expected: ',', ')' or identifier`);
  }
  const values = new Set<string>();
  for (let expectsValue = true; ; ) {
    const { type, text } = tokens.take();
    if (type === ')') {
      if (expectsValue) values.add('');
      return [...values].sort();
    }
    if (type === ',') {
      if (expectsValue) values.add('');
      expectsValue = true;
    } else if (type === 'word' && expectsValue) {
      values.add(text);
      expectsValue = false;
    } else {
      throw new SelectorError(`found '${text}', expected: ${expectsValue ? "',', or identifier" : "',' or ')'"}`);
    }
  }
}
