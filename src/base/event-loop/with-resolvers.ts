/** Makes a promise that is resolved from outside, like `Promise.withResolvers`, which Node has from 22 on. */
export function withResolvers<T>(): { readonly promise: Promise<T>; readonly resolve: (value: T) => void } {
  let resolve!: (value: T) => void;
  const promise = new Promise<T>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
