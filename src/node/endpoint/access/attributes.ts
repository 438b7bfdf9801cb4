/** Rights that requests to the endpoint need. */

/** The resource is `nodes`, the name that of the node. */
export interface Right {
  readonly verb: string;
  /** One of them is enough. */
  readonly subresources: readonly string[];
}

const VERBS: Readonly<Record<string, string>> = {
  POST: 'create',
  GET: 'get',
  HEAD: 'get',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
  // A connection to a pod of the node.
  CONNECT: 'create',
};

/** Rights of paths and of everything below them. Paths that are not here need `proxy`. */
const BELOW: readonly (readonly [path: string, subresources: readonly string[]])[] = [
  ['/pods', ['pods', 'proxy']],
  ['/runningpods', ['pods', 'proxy']],
  ['/healthz', ['healthz', 'proxy']],
  ['/configz', ['configz', 'proxy']],
  ['/stats', ['stats']],
  ['/metrics', ['metrics']],
  ['/logs', ['log']],
];

/** `path` has no query. Returns undefined for methods that nothing here has. */
export function rightFor(method: string, path: string): Right | undefined {
  if (!Object.hasOwn(VERBS, method)) return undefined;
  const verb = VERBS[method]!;
  const found = BELOW.find(([prefix]) => path === prefix || path.startsWith(`${prefix}/`));
  return { verb, subresources: found?.[1] ?? ['proxy'] };
}
