/** Finds the backend of a request. */
import { memoized } from '../../../base/collections/memoized.ts';
import type { IngressConfig, PathRule } from '../config.ts';

/** Returns the key of the backend; undefined when no rule matches and there is no default. `path` is without the query. */
export type FindBackend = (host: string, path: string) => string | undefined;

/** A host keeps its list, and so its index, while its rules do not change. */
const indexOf = memoized((rules: readonly PathRule[]): PathIndex => new PathIndex(rules));

/**
 * Finds the backend of a request. The longest path of a host's rules counts; of two equal ones, the exact one. Requests
 * that match none of them fall to less specific rules and the default backend, unless those belong to another
 * namespace.
 */
export function backendFinder({ hosts, owners, defaultBackend }: IngressConfig): FindBackend {
  return (host, path) => {
    let owner: string | undefined;
    for (const name of hostCandidates(host)) {
      const rules = hosts.get(name);
      if (!rules || (owner !== undefined && owners.get(name) !== owner)) continue;
      owner ??= owners.get(name);
      const found = indexOf(rules).find(path);
      if (found !== undefined) return found;
    }
    return owner === undefined || owners.get('') === owner ? defaultBackend : undefined;
  };
}

/** The host itself, the wildcard for its first label, and all hosts. Without the port. */
export function hostCandidates(host: string): readonly string[] {
  const name = host.replace(/:\d+$/, '').replace(/\.$/, '').toLowerCase();
  const dot = name.indexOf('.');
  return dot > 0 ? [name, `*${name.slice(dot)}`, ''] : [name, ''];
}

const NONE = -1;

/**
 * The paths of a host, of which there may be ten thousands. A prefix consists of whole elements: `/a` matches `/a/b` and not `/ab`.
 * Prefixes are sorted so that each is followed by those that begin with it: a path is found behind its longest prefix, or
 * behind one that begins with that.
 */
class PathIndex {
  readonly #exact = new Map<string, string>();
  readonly #prefixes: readonly { readonly key: string; readonly backend: string }[];
  /** Index of the longest other prefix that each prefix begins with. */
  readonly #parents: Int32Array;

  constructor(rules: readonly PathRule[]) {
    for (const { type, path, backend } of rules) if (type === 'Exact') this.#exact.set(path, backend);
    this.#prefixes = rules
      .filter(({ type }) => type === 'Prefix')
      .map(({ path, backend }) => ({ key: keyOf(withoutSlashes(path)), backend }))
      .sort((a, b) => (a.key < b.key ? -1 : 1));
    this.#parents = new Int32Array(this.#prefixes.length).fill(NONE);
    for (let i = 1; i < this.#prefixes.length; i++) {
      const { key } = this.#prefixes[i]!;
      this.#parents[i] = this.#climb(i - 1, key, commonLength(this.#prefixes[i - 1]!.key, key));
    }
  }

  find(path: string): string | undefined {
    const exact = this.#exact.get(path);
    if (exact !== undefined) return exact;
    const key = keyOf(path);
    const last = this.#lastUpTo(key);
    if (last === NONE) return undefined;
    const found = this.#climb(last, key, commonLength(this.#prefixes[last]!.key, key));
    return this.#prefixes[found]?.backend;
  }

  /** Climbs from a prefix to the longest one that the key begins with. They have `common` characters in common. */
  #climb(start: number, key: string, common: number): number {
    for (let at = start; at !== NONE; at = this.#parents[at]!) {
      const { length } = this.#prefixes[at]!.key;
      if (length <= common && (length === key.length || key[length] === SEPARATOR)) return at;
    }
    return NONE;
  }

  /** The last prefix that is not behind the key. */
  #lastUpTo(key: string): number {
    let [low, high] = [0, this.#prefixes.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#prefixes[middle]!.key <= key) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }
}

/** Sorts before every other character. */
const SEPARATOR = '\0';

const keyOf = (path: string) => path.replaceAll('/', SEPARATOR);

function commonLength(a: string, b: string): number {
  const most = Math.min(a.length, b.length);
  let length = 0;
  while (length < most && a.charCodeAt(length) === b.charCodeAt(length)) length++;
  return length;
}

/**
 * Returns the path without the slashes at its end. A regular expression would take quadratic time for slashes before
 * that.
 */
export function withoutSlashes(path: string): string {
  let end = path.length;
  while (path[end - 1] === '/') end--;
  return path.slice(0, end);
}
