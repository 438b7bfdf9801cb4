/** Parses an expression and expands macros. Errors have the words of cel-go's parser. */
import type { Macro } from '../library.ts';
import type { Value } from '../values/value.ts';
import type { Expression, ListItem, MapEntry, ObjectField } from './expression.ts';
import type { Issue } from './issues.ts';
import { type Token, tokenize } from './lexer.ts';
import { parseBytes, parseDouble, parseInt64, parseString, parseUint64 } from './literals.ts';

/** Maximum length of expressions that are read, as in cel-go. */
const MAX_CODE_POINTS = 100_000;
/** Maximum nesting of expressions, and maximum number of operators of one level in a row, as in cel-go. */
const MAX_DEPTH = 250;

const RESERVED = new Set(
  'as break const continue else for function if import let loop package namespace return var void while'.split(' '),
);
const KEYWORDS = new Set(['true', 'false', 'null', 'in']);

const LITERALS = "'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";
const EXPECTED_EXPRESSION = `expecting {'[', '{', '(', '.', '-', '!', ${LITERALS}`;
const EXPECTED_ARGUMENT = `expecting {'[', '{', '(', ')', '.', '-', '!', ${LITERALS}`;
const EXPECTED_ITEM = `expecting {'[', ']', '{', '(', '.', ',', '-', '!', '?', ${LITERALS}`;
const EXPECTED_ENTRY = `expecting {'[', '{', '}', '(', '.', ',', '-', '!', '?', ${LITERALS}`;

/** Operators that an expression can begin with. */
const BEGINNINGS = new Set(['[', '[?', '{', '(', '.', '-', '!']);

const RELATIONS = new Set(['<', '<=', '>=', '>', '==', '!=', 'in']);
const SUMS = new Set(['+', '-']);
const PRODUCTS = new Set(['*', '/', '%']);

/** Ends parsing at the first syntax error. */
class SyntaxFailure {}

export interface Parsed {
  readonly expression: Expression;
  readonly issues: readonly Issue[];
}

/** Finds a macro by name, style and number of arguments. */
export type MacroLookup = (name: string, member: boolean, arity: number) => Macro | undefined;

export function parse(source: string, macros: MacroLookup): Parsed {
  const issues: Issue[] = [];
  const nothing: Expression = { kind: 'mistake', position: 0 };
  const size = countCodePoints(source);
  if (size > MAX_CODE_POINTS) {
    const message = `expression code point size exceeds limit: size: ${size}, limit ${MAX_CODE_POINTS}`;
    return { expression: nothing, issues: [{ position: undefined, message }] };
  }
  const tokens = tokenize(source, (issue) => issues.push(issue));
  if (issues.length > 0) return { expression: nothing, issues };
  const parser = new Parser(tokens, macros, issues);
  try {
    return { expression: parser.whole(), issues };
  } catch (error) {
    if (!(error instanceof SyntaxFailure)) throw error;
    return { expression: nothing, issues };
  }
}

function countCodePoints(source: string): number {
  let pairs = 0;
  for (let i = 0; i < source.length; i++) if ((source.charCodeAt(i) & 0xfc00) === 0xd800) pairs++;
  return source.length - pairs;
}

class Parser {
  #at = 0;
  #depth = 0;

  constructor(
    private readonly tokens: readonly Token[],
    private readonly macros: MacroLookup,
    private readonly issues: Issue[],
  ) {}

  whole(): Expression {
    const expression = this.#expression();
    if (this.#token.kind !== 'end') {
      const follows = this.tokens[this.#at + 1]!.kind === 'end' ? 'extraneous' : 'mismatched';
      this.#syntaxError(`${follows} input '${this.#token.text}' expecting <EOF>`);
    }
    return expression;
  }

  get #token(): Token {
    return this.tokens[this.#at]!;
  }

  #is(text: string): boolean {
    const { kind, text: found } = this.#token;
    return found === text && (kind === 'operator' || kind === 'identifier');
  }

  #next(): Token {
    return this.tokens[this.#at++]!;
  }

  #accept(text: string): Token | undefined {
    return this.#is(text) ? this.#next() : undefined;
  }

  #expect(text: string): Token {
    const found = this.#accept(text);
    if (found === undefined) this.#syntaxError(`mismatched input '${this.#token.text}' expecting '${text}'`);
    return found;
  }

  #syntaxError(message: string): never {
    this.issues.push({ position: this.#token.position, message: `Syntax error: ${message}` });
    throw new SyntaxFailure();
  }

  #error(position: number, message: string): Expression {
    this.issues.push({ position, message });
    return { kind: 'mistake', position };
  }

  #tooDeep(): never {
    this.issues.push({ position: undefined, message: `expression recursion limit exceeded: ${MAX_DEPTH}` });
    throw new SyntaxFailure();
  }

  /** Rejects a first element that is not an element, and names the expected one. */
  #expectElement(closing: string, expected: string): void {
    const { kind, text } = this.#token;
    const isOperator = kind === 'operator' || kind === 'end' || text === 'in';
    if (!isOperator || BEGINNINGS.has(text) || text === closing || text === '?') return;
    this.#syntaxError(`mismatched input '${text}' ${expected}`);
  }

  #expression(): Expression {
    if (++this.#depth > MAX_DEPTH) this.#tooDeep();
    let expression = this.#logical('||', () => this.#logical('&&', () => this.#binary(0)));
    const question = this.#accept('?');
    if (question !== undefined) {
      const yes = this.#logical('||', () => this.#logical('&&', () => this.#binary(0)));
      this.#expect(':');
      const no = this.#expression();
      expression = this.#call(question.position, '_?_:_', undefined, [expression, yes, no]);
    }
    this.#depth--;
    return expression;
  }

  /** Terms of `&&` or `||`, as a balanced tree: there may be thousands. */
  #logical(operator: string, term: () => Expression): Expression {
    const terms = [term()];
    const positions: number[] = [];
    for (let found = this.#accept(operator); found !== undefined; found = this.#accept(operator)) {
      positions.push(found.position);
      terms.push(term());
    }
    const tree = (low: number, high: number): Expression => {
      if (low === high) return terms[low]!;
      const middle = (low + high) >> 1;
      return this.#call(positions[middle]!, `_${operator}_`, undefined, [tree(low, middle), tree(middle + 1, high)]);
    };
    return tree(0, terms.length - 1);
  }

  /** Relations, sums and products, which associate to the left. */
  #binary(level: number): Expression {
    const operators = [RELATIONS, SUMS, PRODUCTS][level];
    if (operators === undefined) return this.#unary();
    let left = this.#binary(level + 1);
    for (let length = 1; ; length++) {
      const { kind, text, position } = this.#token;
      if ((kind !== 'operator' && kind !== 'identifier') || !operators.has(text)) return left;
      if (length >= MAX_DEPTH) this.#tooDeep();
      this.#at++;
      left = this.#call(position, text === 'in' ? '@in' : `_${text}_`, undefined, [left, this.#binary(level + 1)]);
    }
  }

  #unary(): Expression {
    const operator = this.#is('!') ? '!' : this.#is('-') ? '-' : undefined;
    if (operator === undefined) return this.#member();
    const { position } = this.#token;
    let count = 0;
    while (this.#accept(operator) !== undefined) count++;
    if (operator === '-' && count === 1 && ['int', 'double'].includes(this.#token.kind)) {
      return this.#postfix(this.#number(this.#next(), position, '-'));
    }
    const operand = this.#member();
    return count % 2 === 0 ? operand : this.#call(position, `${operator}_`, undefined, [operand]);
  }

  #member(): Expression {
    return this.#postfix(this.#primary());
  }

  #postfix(primary: Expression): Expression {
    let expression = primary;
    for (let length = 1; ; length++) {
      if (length > MAX_DEPTH) this.#tooDeep();
      const { position } = this.#token;
      if (this.#accept('.') !== undefined) {
        const field = this.#name();
        const open = this.#accept('(');
        if (open === undefined) expression = { kind: 'select', position, operand: expression, field, test: false };
        else expression = this.#call(open.position, field, expression, this.#arguments());
      } else if (this.#accept('.?') !== undefined) {
        const field: Expression = { kind: 'literal', position: this.#token.position, value: this.#name() };
        expression = this.#call(position, '_?._', undefined, [expression, field]);
      } else if (this.#accept('[') !== undefined) {
        const index = this.#expression();
        this.#expect(']');
        expression = this.#call(position, '_[_]', undefined, [expression, index]);
      } else if (this.#accept('[?') !== undefined) {
        const index = this.#expression();
        this.#expect(']');
        expression = this.#call(position, '_[?_]', undefined, [expression, index]);
      } else if (this.#is('{') && qualifiedName(expression) !== undefined) {
        expression = this.#object(qualifiedName(expression)!);
      } else {
        return expression;
      }
    }
  }

  #name(): string {
    const { kind, text } = this.#token;
    if (kind !== 'identifier' || KEYWORDS.has(text)) {
      this.#syntaxError(`mismatched input '${text}' expecting IDENTIFIER`);
    }
    return this.#next().text;
  }

  #primary(): Expression {
    const token = this.#token;
    const { kind, text, position } = token;
    switch (kind) {
      case 'int':
      case 'uint':
      case 'double':
        return this.#number(this.#next(), position, '');
      case 'string':
      case 'bytes':
        return this.#text(this.#next());
      case 'identifier':
        return this.#identifier(this.#next(), '');
      case 'operator':
        break;
      case 'end':
        return this.#syntaxError(`mismatched input '<EOF>' ${EXPECTED_EXPRESSION}`);
    }
    if (this.#accept('(') !== undefined) {
      const inner = this.#expression();
      this.#expect(')');
      return inner;
    }
    if (this.#accept('.') !== undefined) return this.#identifier(this.#next(), '.');
    if (this.#is('[')) return this.#list();
    // `[?x]` is one token; in a literal, its parts are apart.
    if (this.#is('[?')) return this.#list();
    if (this.#is('{')) return this.#map();
    return this.#syntaxError(`mismatched input '${text}' ${EXPECTED_EXPRESSION}`);
  }

  #identifier(token: Token, dot: string): Expression {
    const { text, position } = token;
    if (token.kind !== 'identifier') {
      this.#at--;
      this.#syntaxError(`mismatched input '${text}' expecting IDENTIFIER`);
    }
    if (dot === '') {
      if (text === 'true' || text === 'false') return { kind: 'literal', position, value: text === 'true' };
      if (text === 'null') return { kind: 'literal', position, value: null };
    }
    if (text === 'in') {
      this.#at--;
      this.#syntaxError(`mismatched input 'in' ${EXPECTED_EXPRESSION}`);
    }
    if (RESERVED.has(text)) return this.#error(position, `reserved identifier: ${text}`);
    const open = this.#accept('(');
    if (open !== undefined) return this.#call(open.position, dot + text, undefined, this.#arguments());
    return { kind: 'identifier', position, name: dot + text };
  }

  #number(token: Token, position: number, sign: string): Expression {
    const text = sign + token.text;
    const value =
      token.kind === 'int' ? parseInt64(text) : token.kind === 'uint' ? parseUint64(text) : parseDouble(text);
    if (value === undefined) return this.#error(position, `invalid ${token.kind} literal`);
    return { kind: 'literal', position, value };
  }

  #text(token: Token): Expression {
    const { text, position } = token;
    try {
      const value: Value = token.kind === 'string' ? parseString(text) : parseBytes(text);
      return { kind: 'literal', position, value };
    } catch (error) {
      return this.#error(position, (error as Error).message);
    }
  }

  /** Parses arguments up to and including the closing parenthesis. */
  #arguments(): Expression[] {
    const args: Expression[] = [];
    if (this.#accept(')') !== undefined) return args;
    this.#expectElement(')', EXPECTED_ARGUMENT);
    do args.push(this.#expression());
    while (this.#accept(',') !== undefined);
    this.#expect(')');
    return args;
  }

  #list(): Expression {
    const open = this.#next();
    const items: ListItem[] = [];
    let optional = open.text === '[?';
    this.#expectElement(']', EXPECTED_ITEM);
    while (!this.#is(']') || optional) {
      optional = optional || this.#accept('?') !== undefined;
      items.push({ value: this.#expression(), optional });
      optional = false;
      if (this.#accept(',') === undefined) break;
    }
    this.#expect(']');
    return { kind: 'list', position: open.position, items };
  }

  #map(): Expression {
    const open = this.#next();
    const entries: MapEntry[] = [];
    this.#expectElement('}', EXPECTED_ENTRY);
    while (!this.#is('}')) {
      const optional = this.#accept('?') !== undefined;
      const key = this.#expression();
      const { position } = this.#expect(':');
      entries.push({ position, key, value: this.#expression(), optional });
      if (this.#accept(',') === undefined) break;
    }
    this.#expect('}');
    return { kind: 'map', position: open.position, entries };
  }

  #object(typeName: string): Expression {
    const open = this.#next();
    const fields: ObjectField[] = [];
    while (!this.#is('}')) {
      const optional = this.#accept('?') !== undefined;
      const field = this.#name();
      const { position } = this.#expect(':');
      fields.push({ position, field, value: this.#expression(), optional });
      if (this.#accept(',') === undefined) break;
    }
    this.#expect('}');
    return { kind: 'object', position: open.position, typeName, fields };
  }

  #call(position: number, name: string, target: Expression | undefined, args: readonly Expression[]): Expression {
    const macro = this.macros(name, target !== undefined, args.length);
    const error = (message: string, at: Expression) => this.#error(at.position, message);
    const expanded = macro?.expand({ target, args, position, error });
    return expanded ?? { kind: 'call', position, function: name, target, args };
  }
}

/** `a.b.c`, when the expression is nothing but names. */
export function qualifiedName(expression: Expression): string | undefined {
  const parts: string[] = [];
  let at = expression;
  while (at.kind === 'select' && !at.test) {
    parts.unshift(at.field);
    at = at.operand;
  }
  return at.kind === 'identifier' ? [at.name, ...parts].join('.') : undefined;
}
