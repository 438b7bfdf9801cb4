import { scaleShapeOf } from '../../kinds/autoscaling/scale.ts';
import type { Verb } from '../../kinds/kind.ts';
import type { Resource } from '../registry.ts';

/** One subresource of a served version: what `pods/eviction` takes and answers. */
export interface Subresource {
  readonly name: string;
  /** The kind of its bodies. */
  readonly kind: string;
  /** Where that kind lives; undefined when it is the resource's own group and version. */
  readonly apiVersion: string | undefined;
  readonly verbs: readonly Verb[];
}

interface Definition {
  readonly verbs: readonly Verb[];
  readonly kind?: (resource: Resource) => string;
  readonly apiVersion?: (resource: Resource) => string;
  /** Where it is served in some versions only. */
  readonly versions?: readonly string[];
}

const READ_WRITE: readonly Verb[] = ['get', 'patch', 'update'];
const CONNECT: readonly Verb[] = ['create', 'get'];
const CREATE: readonly Verb[] = ['create'];

/** Every subresource that a kind can name. */
const DEFINITIONS = new Map<string, Definition>([
  ['approval', { verbs: READ_WRITE }],
  ['attach', { verbs: CONNECT, kind: () => 'PodAttachOptions' }],
  ['binding', { verbs: CREATE, kind: () => 'Binding' }],
  ['ephemeralcontainers', { verbs: READ_WRITE }],
  ['eviction', { verbs: CREATE, kind: () => 'Eviction', apiVersion: () => 'policy/v1' }],
  ['exec', { verbs: CONNECT, kind: () => 'PodExecOptions' }],
  ['finalize', { verbs: ['update'] }],
  ['log', { verbs: ['get'] }],
  ['portforward', { verbs: CONNECT, kind: () => 'PodPortForwardOptions' }],
  ['proxy', { verbs: ['create', 'delete', 'get', 'patch', 'update'], kind: ({ kind }) => `${kind.kind}ProxyOptions` }],
  ['resize', { verbs: READ_WRITE }],
  ['rollback', { verbs: CREATE, kind: () => 'DeploymentRollback', versions: ['apps/v1beta1', 'extensions/v1beta1'] }],
  [
    'scale',
    {
      verbs: READ_WRITE,
      kind: () => 'Scale',
      apiVersion: ({ version }) => scaleShapeOf(version.apiVersion).apiVersion,
    },
  ],
  ['status', { verbs: READ_WRITE }],
  ['token', { verbs: CREATE, kind: () => 'TokenRequest', apiVersion: () => 'authentication.k8s.io/v1' }],
]);

const known = new WeakMap<Resource, ReadonlyMap<string, Subresource>>();

/** The subresources of one served version, by name. */
export function subresourcesOf(resource: Resource): ReadonlyMap<string, Subresource> {
  let all = known.get(resource);
  if (!all) {
    all = new Map(namesOf(resource).flatMap((name) => rowOf(name, resource)));
    known.set(resource, all);
  }
  return all;
}

function namesOf({ kind }: Resource): string[] {
  const { status, scale, others = [] } = kind.subresources ?? {};
  return [...others, ...(scale ? ['scale'] : []), ...(status ? ['status'] : [])].sort();
}

function rowOf(name: string, resource: Resource): [string, Subresource][] {
  const definition = DEFINITIONS.get(name);
  if (!definition) throw new Error(`${resource.kind.plural}/${name} is not a known subresource`);
  const { apiVersion } = resource.version;
  if (definition.versions && !definition.versions.includes(apiVersion)) return [];
  const elsewhere = definition.apiVersion?.(resource);
  const row = {
    name,
    kind: definition.kind?.(resource) ?? resource.kind.kind,
    apiVersion: elsewhere === apiVersion ? undefined : elsewhere,
    verbs: definition.verbs,
  };
  return [[name, Object.freeze(row)]];
}

const ALL: readonly Verb[] = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];

/** What can be done with a kind, in the order discovery shows it. */
export function verbsOf({ kind }: Resource): readonly Verb[] {
  return kind.verbs ? [...kind.verbs].sort() : ALL;
}
