/** Values in the words of Go programs: messages about configurations quote them so. */
import { isTree } from '../../base/json/tree.ts';

/** Length to which longer values are cut. */
const MAX_SHOWN_CHARACTERS = 1_000;

/** A value as `%v` prints the pointer to it: `&{x}`, `&{map[a:1]}`. */
export function goValue(value: unknown): string {
  return `&{${cut(plainText(value))}}`;
}

/** A value as `%#v` prints the pointer to it. */
export function goSyntax(value: unknown): string {
  return `&value.valueUnstructured{Value:${cut(syntaxOf(value))}}`;
}

/** The name of the type that a JSON parser gives a value. */
export function goType(value: unknown): string {
  if (typeof value === 'string') return 'string';
  if (typeof value === 'boolean') return 'bool';
  return Array.isArray(value) ? '[]interface {}' : 'map[string]interface {}';
}

function plainText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(plainText).join(' ')}]`;
  if (isTree(value)) return `map[${entriesOf(value, ([key, child]) => `${key}:${plainText(child)}`).join(' ')}]`;
  return value === null ? '<nil>' : `${value}`;
}

function syntaxOf(value: unknown): string {
  if (Array.isArray(value)) return `${goType(value)}{${value.map(syntaxOf).join(', ')}}`;
  if (isTree(value)) {
    const entries = entriesOf(value, ([key, child]) => `${JSON.stringify(key)}:${syntaxOf(child)}`);
    return `${goType(value)}{${entries.join(', ')}}`;
  }
  return value === null ? 'interface {}(nil)' : JSON.stringify(value);
}

/** Returns the entries in the order of their names. */
function entriesOf(tree: object, text: (entry: [string, unknown]) => string): string[] {
  return Object.entries(tree)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(text);
}

function cut(text: string): string {
  return text.length > MAX_SHOWN_CHARACTERS ? `${text.slice(0, MAX_SHOWN_CHARACTERS)}...` : text;
}
