/** Functions on JSON trees: plain objects, arrays and scalars. Decoders limit the depth, so recursion is safe. */

export function deepEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false;
    for (let i = 0; i < a.length; i++) if (!deepEqual(a[i], b[i])) return false;
    return true;
  }
  if (Array.isArray(b)) return false;
  return equalObjects(a as Tree, b as Tree);
}

export type Tree = Record<string, unknown>;

/** Compares objects. A key whose value is undefined counts as missing. */
function equalObjects(a: Tree, b: Tree): boolean {
  let balance = 0;
  for (const key in a) {
    const value = a[key];
    if (value === undefined) continue;
    if (!deepEqual(value, b[key]) || (key === '__proto__' && !Object.hasOwn(b, key))) return false;
    balance++;
  }
  for (const key in b) if (b[key] !== undefined) balance--;
  return balance === 0;
}

/** Freezes the tree in place and returns it. A frozen part is assumed to be deeply frozen. */
export function deepFreeze<T>(tree: T): T {
  if (typeof tree !== 'object' || tree === null || Object.isFrozen(tree)) return tree;
  Object.freeze(tree);
  for (const child of Object.values(tree)) deepFreeze(child);
  return tree;
}

/** Returns a deep copy. */
export function clone<T>(tree: T): T {
  if (typeof tree !== 'object' || tree === null) return tree;
  if (Array.isArray(tree)) {
    const out = new Array(tree.length);
    for (let i = 0; i < tree.length; i++) out[i] = clone(tree[i]);
    return out as T;
  }
  const out: Tree = {};
  for (const key in tree) {
    const value: unknown = tree[key];
    const copy = typeof value === 'object' ? clone(value) : value;
    // Keeps the common case fast: templates are copied for each object that is created from them.
    if (key === '__proto__') put(out, key, copy);
    else out[key] = copy;
  }
  return out as T;
}

/**
 * Returns the object with changed or added fields. `{ ...object, field }` does the same, but in Node 20 each result has
 * its own shape when the field is new, which slows down code that reads many of them.
 */
export function extended<T extends object, U extends object>(object: T, fields: U): T & U {
  return Object.assign({}, object, fields);
}

type Defined<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** Returns the fields that are not undefined, for consumers to whom one that is undefined is not missing. */
export function withoutUndefined<T extends object>(fields: T): Defined<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Defined<T>;
}

/** Sets a key as plain data: assigning to `__proto__` would change the prototype instead. */
export function put(object: Tree, key: string, value: unknown): void {
  if (key === '__proto__') {
    Object.defineProperty(object, key, { value, enumerable: true, writable: true, configurable: true });
  } else {
    object[key] = value;
  }
}

/** The value at a path such as `spec.replicas`, or undefined. */
export function getPath(tree: unknown, path: string): unknown {
  let at: unknown = tree;
  for (const key of path.split('.')) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined;
    at = (at as Tree)[key];
  }
  return at;
}

/** Returns a tree that differs at one path and shares the rest. Undefined removes the field. */
export function setPath<T>(tree: T, path: string, value: unknown): T {
  return setAt(tree, path.split('.'), value) as T;
}

function setAt(tree: unknown, [key, ...rest]: readonly string[], value: unknown): unknown {
  if (key === undefined) return value;
  const out: Tree = isTree(tree) ? { ...tree } : {};
  const child = setAt(Object.hasOwn(out, key) ? out[key] : undefined, rest, value);
  if (child === undefined) delete out[key];
  else put(out, key, child);
  return out;
}

/** Reports whether a value is an object, not a list or a scalar. */
export function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
