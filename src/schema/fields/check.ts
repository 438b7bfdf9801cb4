import { isTree } from '../../base/json/tree.ts';
import { goTypeOf } from '../go-text.ts';
import type { ListSchema, ObjectSchema, Schema } from '../schema.ts';
import { type AnySchema, containerOf, DEDUCED, isFreeForm, itemElement, schemaAt } from './container.ts';
import { elementText, fieldElement, shownPath } from './element.ts';

/** Length to which longer values are cut. */
const MAX_SHOWN_CHARACTERS = 1_000;

/** Further errors are left out. */
const MAX_ERRORS = 100;

/** Checks the fields of a configuration: undeclared ones, values of another type, items that cannot be told apart. */
export function checkFields(schema: ObjectSchema, tree: unknown): string[] {
  const errors: string[] = [];
  check(schema, tree, '', errors);
  return errors;
}

/** Shows a single error as it is, and several as a list. */
export function errorText(errors: readonly string[]): string {
  return errors.length === 1 ? errors[0]! : ['errors:', ...errors.map((each) => `  ${each}`)].join('\n');
}

function check(schema: AnySchema, value: unknown, path: string, errors: string[]): void {
  if (value === null || value === undefined || errors.length >= MAX_ERRORS) return;
  if (schema !== DEDUCED && !isFreeForm(schema)) {
    const wrong = wrongType(schema, value);
    if (wrong) {
      errors.push(path ? `${shownPath(path)}: ${wrong}` : wrong);
      return;
    }
  }
  const container = containerOf(schema, value);
  if (Array.isArray(value)) {
    if (schema === DEDUCED || schema.type !== 'list') return;
    if (container.type === 'list') checkItems(container.schema, value, path, errors);
    else value.forEach((item, i) => void check(schema.items, item, `${path}[${i}]`, errors));
    return;
  }
  if (!isTree(value)) return;
  for (const key in value) {
    const at = path + elementText(fieldElement(key));
    const child = container.type === 'map' ? schemaAt(container, key) : inLeaf(schema, key);
    if (!child) {
      // Like Kubernetes, which looks no further into the same map.
      errors.push(`${shownPath(at)}: field not declared in schema`);
      return;
    }
    check(child, value[key], at, errors);
  }
}

/** The schema of a field of something that is owned as a whole. */
function inLeaf(schema: AnySchema, key: string): AnySchema | undefined {
  if (schema === DEDUCED) return DEDUCED;
  switch (schema.type) {
    case 'object':
      return Object.hasOwn(schema.fields, key) ? schema.fields[key] : schema.preserveUnknown ? DEDUCED : undefined;
    case 'map':
      return schema.values;
    case 'lazy':
      return inLeaf(schema.resolve(), key);
    default:
      return DEDUCED;
  }
}

function checkItems(schema: ListSchema, items: readonly unknown[], path: string, errors: string[]): void {
  const seen = new Set<string>();
  for (let i = 0; i < items.length; i++) {
    const element = itemElement(schema, items[i]);
    if (element === undefined) {
      errors.push(`${shownPath(path)}: element ${i}: ${whyNoElement(schema, items[i])}`);
      return;
    }
    const at = elementText(element);
    if (seen.has(element)) errors.push(`${shownPath(path)}: duplicate entries for key ${shownPath(at)}`);
    seen.add(element);
    check(schema.items, items[i], path + at, errors);
  }
}

function whyNoElement(schema: ListSchema, item: unknown): string {
  if (schema.list === 'map') {
    if (item === null) return 'associative list with keys may not have a null element';
    if (!isTree(item)) return 'associative list with keys may not have non-map elements';
    const keys = (schema.keys ?? []).map((key) => JSON.stringify(key)).join(' ');
    return `associative list with keys has an element that omits all key fields [${keys}] (and doesn't have default values for any key fields)`;
  }
  if (item === null) return "associative list without keys has an element that's an explicit null";
  return Array.isArray(item)
    ? 'not supported: associative list with lists as elements'
    : "associative list without keys has an element that's a map type";
}

function wrongType(schema: Schema, value: unknown): string | undefined {
  const isScalar = typeof value !== 'object';
  switch (schema.type) {
    case 'object':
    case 'map':
      return isTree(value) ? undefined : `expected map, got ${goValue(value)}`;
    case 'list':
      return Array.isArray(value) ? undefined : `expected list, got ${goValue(value)}`;
    case 'integer':
    case 'number':
      return typeof value === 'number' ? undefined : `expected numeric (int or float), got ${goTypeOf(value)}`;
    case 'boolean':
      return typeof value === 'boolean' ? undefined : `expected boolean, got ${goValue(value)}`;
    case 'string':
      if (schema.format && schema.format !== 'bytes')
        return isScalar ? undefined : `expected any scalar, got ${goValue(value)}`;
      return typeof value === 'string' ? undefined : `expected string, got ${goSyntax(value)}`;
    case 'intOrString':
      return isScalar ? undefined : `expected any scalar, got ${goValue(value)}`;
    case 'lazy':
      return wrongType(schema.resolve(), value);
    case 'any':
      return undefined;
  }
}

/** A value as `%v` prints the pointer to it: `&{x}`, `&{map[a:1]}`. */
function goValue(value: unknown): string {
  return `&{${cut(plainText(value))}}`;
}

/** A value as `%#v` prints the pointer to it. */
function goSyntax(value: unknown): string {
  return `&value.valueUnstructured{Value:${cut(syntaxOf(value))}}`;
}

function plainText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(plainText).join(' ')}]`;
  if (isTree(value)) return `map[${entriesOf(value, ([key, child]) => `${key}:${plainText(child)}`).join(' ')}]`;
  return value === null ? '<nil>' : `${value}`;
}

function syntaxOf(value: unknown): string {
  if (Array.isArray(value)) return `${goTypeOf(value)}{${value.map(syntaxOf).join(', ')}}`;
  if (isTree(value)) {
    const entries = entriesOf(value, ([key, child]) => `${JSON.stringify(key)}:${syntaxOf(child)}`);
    return `${goTypeOf(value)}{${entries.join(', ')}}`;
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
