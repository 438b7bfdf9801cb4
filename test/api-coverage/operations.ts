/**
 * Lists published operations on objects of served kinds that the server does not answer, and objects that it does not
 * serve.
 */

type Paths = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

const METHODS = ['get', 'put', 'post', 'delete', 'patch', 'options', 'head'] as const;

/** `post /api/v1/namespaces/{namespace}/pods/{name}/exec`, and so on. */
function* operationsOf(paths: Paths): Generator<{ path: string; method: string }> {
  for (const [path, item] of Object.entries(paths)) {
    for (const method of METHODS) if (item[method]) yield { path, method };
  }
}

/** `api/v1` and `pods` of a path below them; undefined for one that is about no objects. */
function resourceAt(path: string): { apiVersion: string; plural: string; subresource: string } | undefined {
  const match =
    /^\/(?:api\/(?<core>v1)|apis\/(?<other>[^/]+\/[^/]+))\/(?:watch\/)?(?:namespaces\/\{namespace\}\/)?(?<plural>[a-z]+)(?:\/\{name\}(?:\/(?<sub>.*))?)?$/.exec(
      path,
    )?.groups;
  if (!match) return undefined;
  return { apiVersion: match.core ?? match.other ?? '', plural: match.plural ?? '', subresource: match.sub ?? '' };
}

export interface OperationCoverage {
  /** Number of operations of the served resources. */
  readonly published: number;
  readonly served: number;
  /** Operations that are not answered there: `v1 pods/exec`, with the methods. */
  readonly missing: ReadonlyMap<string, readonly string[]>;
  /** Resources that are not served at all, by group and version. */
  readonly unserved: ReadonlyMap<string, readonly string[]>;
}

export function operationCoverage(ours: Paths, theirs: Paths): OperationCoverage {
  const resources = new Set(Object.keys(ours).map((path) => resourceName(path)));
  const missing = new Map<string, string[]>();
  const unserved = new Map<string, string[]>();
  let published = 0;
  let served = 0;
  for (const { path, method } of operationsOf(theirs)) {
    const at = resourceAt(path);
    if (!at) continue;
    const { apiVersion, plural, subresource } = at;
    if (!resources.has(resourceName(path))) {
      addTo(unserved, apiVersion, plural);
      continue;
    }
    published++;
    if (ours[path]?.[method]) served++;
    else addTo(missing, `${apiVersion} ${plural}${subresource ? `/${subresource}` : ''}`, method.toUpperCase());
  }
  return { published, served, missing, unserved };
}

function resourceName(path: string): string {
  const at = resourceAt(path);
  return at ? `${at.apiVersion} ${at.plural}` : '';
}

function addTo(map: Map<string, string[]>, key: string, value: string): void {
  const values = map.get(key) ?? [];
  map.set(key, values);
  if (!values.includes(value)) values.push(value);
}
