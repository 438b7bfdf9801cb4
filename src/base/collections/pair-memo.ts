/** Memoizes a function of two objects as long as both are alive, for immutable objects that are compared repeatedly. */
export function memoizedPair<A extends object, B extends object, R>(compute: (a: A, b: B) => R): (a: A, b: B) => R {
  const known = new WeakMap<A, WeakMap<B, { readonly result: R }>>();
  return (a, b) => {
    let of = known.get(a);
    if (!of) {
      of = new WeakMap();
      known.set(a, of);
    }
    let found = of.get(b);
    if (!found) {
      found = { result: compute(a, b) };
      of.set(b, found);
    }
    return found.result;
  };
}
