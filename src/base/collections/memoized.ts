/**
 * Returns a function that computes a value once for each key, and keeps it for as long as the key is in use. The key is
 * the argument, or the part of it from which the value follows. `compute` must be pure, and its arguments immutable.
 */
export function memoized<A extends object, V>(compute: (of: A) => V, keyOf?: (of: A) => object): (of: A) => V {
  const values = new WeakMap<object, V>();
  return (of) => {
    const key = keyOf ? keyOf(of) : of;
    const known = values.get(key);
    if (known !== undefined || values.has(key)) return known as V;
    const value = compute(of);
    values.set(key, value);
    return value;
  };
}
