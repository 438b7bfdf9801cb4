/**
 * Something that is remembered for all objects with the same fields, whatever their values are. It is found by walking the
 * object along the tree of all walks before it: the names of fields and the keys of list items lead from node to node, so
 * that nothing is copied or hashed for an object whose fields are known. That costs a twentieth of making the set.
 */
import { MAX_SHARE } from '../../base/collections/bounded-map.ts';
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

/** A step of a walk. What is no name or key is a symbol, because those may be any text. */
type Token = string | number | symbol;

/** Where walks end that took the same steps: the signature of objects with the same fields. */
export interface Signature<V> {
  /** What is remembered; undefined until somebody sets it. */
  value: V | undefined;
}

class Node<V> implements Signature<V> {
  value: V | undefined = undefined;
  /** The step that was taken last from here: most objects are like the one before. */
  next: Node<V> | undefined = undefined;
  others: Map<Token, Node<V>> | undefined = undefined;

  constructor(readonly token: Token) {}
}

const START = Symbol('start');
const END = Symbol('end');
const MAP = Symbol('map');
const LIST = Symbol('list');
const ITEM = Symbol('item');
const NULL = Symbol('null');
const HOLLOW = Symbol('hollow');

/** Memory of a node with its place among the steps from another one. */
const NODE_BYTES = 200;

/** What has a schema, such as the version of a kind. Nothing is shared between two of them. */
interface Described {
  readonly schema: ObjectSchema;
}

/** Where a walk ends that has too many new steps. Nothing leads there, and every step from there leads back. */
const TOO_LONG = new Node<never>(START);

export class Signatures<V> {
  readonly #maxBytes: number;
  #roots = new WeakMap<Described, Node<V>>();
  #bytes = 0;
  /** Up to which a walk may add nodes: one object does not displace all others. */
  #walkLimit = 0;

  /** When clients send more than `maxBytes` of different fields, everything is forgotten. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Estimated memory. */
  get bytes(): number {
    return this.#bytes;
  }

  of(described: Described, object: unknown): Signature<V> {
    if (this.#bytes > this.#maxBytes) {
      this.#roots = new WeakMap();
      this.#bytes = 0;
    }
    let root = this.#roots.get(described);
    if (!root) {
      root = new Node(START);
      this.#roots.set(described, root);
    }
    this.#walkLimit = this.#bytes + this.#maxBytes * MAX_SHARE;
    const end = walkOf(described.schema)(object, root, this.#step);
    return end === TOO_LONG ? { value: undefined } : (end as Node<V>);
  }

  readonly #step: Step = (at, token) => {
    const { next } = at;
    return next !== undefined && next.token === token ? next : this.#otherStep(at as Node<V>, token);
  };

  #otherStep(at: Node<V>, token: Token): Node<V> {
    if (at === TOO_LONG) return TOO_LONG;
    at.others ??= new Map();
    let next = at.others.get(token);
    if (!next) {
      if (this.#bytes > this.#walkLimit) return TOO_LONG;
      const own = typeof token === 'string' ? internalized(token) : token;
      next = new Node(own);
      at.others.set(own, next);
      this.#bytes += NODE_BYTES + (typeof own === 'string' ? own.length * 2 : 0);
    }
    at.next = next;
    return next;
  }
}

/** The string as V8 keeps names of properties: a copy of its own, which is compared with other names by reference. */
function internalized(text: string): string {
  return Object.keys({ [text]: true })[0]!;
}

type AnyNode = Node<unknown>;
type Step = (at: AnyNode, token: Token) => AnyNode;

/** Walks a value that is not undefined, from a node on. */
type Walk = (value: unknown, at: AnyNode, step: Step) => AnyNode;

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

/** A leaf with a value is its name alone. */
const leaf: Walk = (value, at, step) => {
  if (typeof value !== 'object') return at;
  if (value === null) return step(at, NULL);
  // What is empty may be what an object has before anything is set (zero.ts).
  return isHollow(value) ? step(step(at, HOLLOW), JSON.stringify(value)) : at;
};

/** Whether a value consists of nothing but empty maps, empty lists and nulls. */
function isHollow(value: unknown): boolean {
  if (typeof value !== 'object') return value === undefined;
  for (const key in value) if (!isHollow((value as Tree)[key])) return false;
  return true;
}

/** Where no schema says what a value is: see `containerOf`. */
const deduced: Walk = (value, at, step) => {
  if (!isTree(value)) return leaf(value, at, step);
  let here = step(at, MAP);
  for (const key in value) if (value[key] !== undefined) here = deduced(value[key], step(here, key), step);
  return step(here, END);
};

function mapWalk(schema: AnySchema, container: Extract<Container, { type: 'map' }>): Walk {
  /** Walks of declared fields, found when an object first has the field, because schemas may contain themselves. */
  const declared = new Map<string, Walk>();
  const declare = (key: string) => {
    const walk = walkOf(schemaAt(container, key) ?? schema);
    if (container.fields && Object.hasOwn(container.fields, key)) declared.set(key, walk);
    return walk;
  };
  return (value, at, step) => {
    if (!isTree(value)) return leaf(value, at, step);
    let here = step(at, MAP);
    for (const key in value) {
      const child = value[key];
      if (child === undefined) continue;
      here = step(here, key);
      // No type of container has anything to say about a scalar.
      if (typeof child === 'object') here = (declared.get(key) ?? declare(key))(child, here, step);
    }
    return step(here, END);
  };
}

function listWalk(schema: ListSchema): Walk {
  const keys = schema.list === 'map' ? (schema.keys ?? []) : [];
  const below = schema.list === 'set' ? undefined : () => walkOf(schema.items);
  return (value, at, step) => {
    if (!Array.isArray(value)) return leaf(value, at, step);
    const walk = below?.();
    let here = step(at, LIST);
    for (const item of value) {
      here = hasPlainKeys(item, keys) ? keySteps(item, keys, here, step) : elementSteps(schema, item, here, step);
      if (walk) here = walk(item, here, step);
    }
    return step(here, END);
  };
}

/** Whether the keys of an item are the steps to it; otherwise its element is, which is more work to make. */
function hasPlainKeys(item: unknown, keys: readonly string[]): item is Readonly<Record<string, Token>> {
  if (keys.length === 0 || !isTree(item)) return false;
  for (const key of keys) if (typeof item[key] !== 'string' && typeof item[key] !== 'number') return false;
  return true;
}

function keySteps(item: Readonly<Record<string, Token>>, keys: readonly string[], at: AnyNode, step: Step): AnyNode {
  let here = at;
  for (const key of keys) here = step(here, item[key]!);
  return here;
}

function elementSteps(schema: ListSchema, item: unknown, at: AnyNode, step: Step): AnyNode {
  return step(step(at, ITEM), itemElement(schema, item) ?? '');
}
