import { scaleShapeOf } from '../../kinds/groups/autoscaling/scale.ts';
import type { Verb } from '../../kinds/kind.ts';
import type { Resource } from '../registry.ts';
import { subresources } from '../subresources/all.ts';
import type { Subresource as Served } from '../subresources/subresource.ts';

/** A subresource of a resource, such as `pods/eviction`, as discovery lists it. */
export interface Subresource {
  readonly name: string;
  /** The kind of its bodies. */
  readonly kind: string;
  /** The group and version of that kind; undefined where they are those of the resource. */
  readonly apiVersion: string | undefined;
  readonly verbs: readonly Verb[];
}

/** The kind of the bodies of a subresource, where it is not the kind of the object. */
interface Definition {
  readonly kind?: (resource: Resource) => string;
  readonly apiVersion?: (resource: Resource) => string;
  /** The versions that have the subresource; absent: all. */
  readonly versions?: readonly string[];
}

const DEFINITIONS = new Map<string, Definition>([
  ['attach', { kind: () => 'PodAttachOptions' }],
  ['binding', { kind: () => 'Binding' }],
  ['eviction', { kind: () => 'Eviction', apiVersion: () => 'policy/v1' }],
  ['explain', { kind: () => 'PodExplanation' }],
  ['exec', { kind: () => 'PodExecOptions' }],
  ['portforward', { kind: () => 'PodPortForwardOptions' }],
  ['proxy', { kind: ({ kind }) => `${kind.kind}ProxyOptions` }],
  ['rollback', { kind: () => 'DeploymentRollback', versions: ['apps/v1beta1', 'extensions/v1beta1'] }],
  ['scale', { kind: () => 'Scale', apiVersion: ({ version }) => scaleShapeOf(version.apiVersion).apiVersion }],
  ['token', { kind: () => 'TokenRequest', apiVersion: () => 'authentication.k8s.io/v1' }],
]);

const known = new WeakMap<Resource, ReadonlyMap<string, Subresource>>();

/** The subresources of a resource, by name: those that its kind declares and the server implements. */
export function subresourcesOf(resource: Resource): ReadonlyMap<string, Subresource> {
  let all = known.get(resource);
  if (!all) {
    const served = subresources.filter(({ of }) => of(resource));
    const rows = served.flatMap((each) => rowOf(each, resource)).sort((a, b) => (a.name < b.name ? -1 : 1));
    all = new Map(rows.map((row) => [row.name, row]));
    known.set(resource, all);
  }
  return all;
}

function rowOf({ name, verbs }: Served, resource: Resource): Subresource[] {
  const definition = DEFINITIONS.get(name);
  const { apiVersion } = resource.version;
  if (definition?.versions && !definition.versions.includes(apiVersion)) return [];
  const elsewhere = definition?.apiVersion?.(resource);
  const row = {
    name,
    kind: definition?.kind?.(resource) ?? resource.kind.kind,
    apiVersion: elsewhere === apiVersion ? undefined : elsewhere,
    verbs: (Object.keys(verbs) as Verb[]).sort(),
  };
  return [Object.freeze(row)];
}

const ALL: readonly Verb[] = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];

/** The verbs of a resource, in the order in which discovery lists them. */
export function verbsOf({ kind }: Resource): readonly Verb[] {
  return kind.verbs ? [...kind.verbs].sort() : ALL;
}
