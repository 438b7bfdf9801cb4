/**
 * A text that tells which fields an object has: equal texts mean equal sets of fields. Objects from one template have
 * the same signature whatever their values are, and making it costs a tenth of making the set.
 */
import { isTree, type Tree } from '../../base/json/tree.ts';
import type { ListSchema, ObjectSchema } from '../schema.ts';
import {
  type AnySchema,
  type Container,
  containerOf,
  DEDUCED,
  isFreeForm,
  itemElement,
  schemaAt,
} from './container.ts';

export function signatureOf(schema: ObjectSchema, object: unknown): string {
  return walkOf(schema)(object);
}

/** The signature of a value that is not undefined. */
type Walk = (value: unknown) => string;

const walks = new WeakMap<object, Walk>();

function walkOf(schema: AnySchema): Walk {
  if (schema === DEDUCED) return deduced;
  let walk = walks.get(schema);
  if (!walk) {
    walk = isFreeForm(schema) ? deduced : walkIn(schema);
    walks.set(schema, walk);
  }
  return walk;
}

/** What stands for null; a leaf with a value is its name alone. */
const NULL = '!';

function walkIn(schema: AnySchema): Walk {
  const container = containerOf(schema);
  switch (container.type) {
    case 'leaf':
      return leaf;
    case 'list':
      return listWalk(container.schema);
    case 'map':
      return mapWalk(schema, container);
  }
}

const leaf: Walk = (value) => {
  if (typeof value !== 'object') return '';
  // What is empty may be what an object has before anything is set (zero.ts).
  return value === null ? NULL : isHollow(value) ? `?${JSON.stringify(value)}` : '';
};

/** Whether a value consists of nothing but empty maps, empty lists and nulls. */
function isHollow(value: unknown): boolean {
  if (typeof value !== 'object') return value === undefined;
  for (const key in value) if (!isHollow((value as Tree)[key])) return false;
  return true;
}

/** Where no schema says what a value is: see `containerOf`. */
const deduced: Walk = (value) => {
  if (!isTree(value)) return leaf(value);
  let text = '{';
  for (const key in value) if (value[key] !== undefined) text += `${key.length}:${key}${deduced(value[key])}`;
  return `${text}}`;
};

interface DeclaredField {
  /** One character for most: long signatures are expensive to look up. */
  readonly name: string;
  /** Undefined until an object has the field, because schemas may contain themselves. */
  walk: Walk | undefined;
}

/** Names of declared fields start with a character from here on; others start with the digits of their length. */
const FIRST_NAME = 0x80;
const LAST_NAME = 0xff;

function nameAt(index: number): string {
  const code = FIRST_NAME + index;
  return code < LAST_NAME ? String.fromCharCode(code) : `${String.fromCharCode(LAST_NAME)}${index};`;
}

function mapWalk(schema: AnySchema, container: Extract<Container, { type: 'map' }>): Walk {
  const declared = new Map<string, DeclaredField>();
  Object.keys(container.fields ?? {}).forEach((key, index) => {
    declared.set(key, { name: nameAt(index), walk: undefined });
  });
  return (value) => {
    if (!isTree(value)) return leaf(value);
    let text = '{';
    for (const key in value) {
      const child = (value as Tree)[key];
      if (child === undefined) continue;
      const field = declared.get(key);
      if (field === undefined) {
        text += `${key.length}:${key}${walkOf(container.others ?? schema)(child)}`;
        continue;
      }
      field.walk ??= walkOf(schemaAt(container, key)!);
      text += field.walk === leaf && typeof child !== 'object' ? field.name : field.name + field.walk(child);
    }
    return `${text}}`;
  };
}

function listWalk(schema: ListSchema): Walk {
  const [key, ...others] = schema.list === 'map' ? (schema.keys ?? []) : [];
  const only = others.length === 0 ? key : undefined;
  return (value) => {
    if (!Array.isArray(value)) return leaf(value);
    const below = schema.list === 'set' ? undefined : walkOf(schema.items);
    let text = '[';
    for (const item of value) {
      const name = only === undefined ? undefined : (item as Tree | null)?.[only];
      if (typeof name === 'string') text += `${name.length}"${name}`;
      else {
        const element = itemElement(schema, item) ?? '';
        text += `${element.length}:${element}`;
      }
      if (below) text += below(item);
    }
    return `${text}]`;
  };
}
