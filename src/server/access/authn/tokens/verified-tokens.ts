import { BoundedMap } from '../../../../base/collections/bounded-map.ts';

const MAX_CACHED_BYTES = 16 * 1024 * 1024;
/** Estimates the memory of a cached result, which consists of the token's claims and is about as long as the token. */
const BYTES_PER_CHARACTER = 4;
const USER_BYTES = 500;

/** A cache of verified tokens, by their text: verifying a signature costs as much as several requests. */
export function verifiedTokens<T>(): Pick<BoundedMap<T>, 'get' | 'delete'> & { set(token: string, value: T): void } {
  const known = new BoundedMap<{ readonly value: T; readonly bytes: number }>({
    maxBytes: MAX_CACHED_BYTES,
    bytesOf: ({ bytes }) => bytes,
  });
  return {
    get: (token) => known.get(token)?.value,
    delete: (token) => known.delete(token),
    set: (token, value) => void known.set(token, { value, bytes: USER_BYTES + token.length * BYTES_PER_CHARACTER }),
  };
}
