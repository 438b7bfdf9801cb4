/**
 * Names in the published schemas: definitions by package, operations by group, version and kind. They are those of
 * Kubernetes, because generated clients and kubectl depend on them.
 */
import { splitApiVersion } from '../../../kinds/kind.ts';

/** The home of shapes outside all groups. It has the form of an apiVersion, so that one function names all shapes. */
export const META = 'meta/v1';

/** Shapes that all groups share. */
const META_SHAPES = new Set([
  'APIGroup',
  'APIGroupList',
  'APIResource',
  'APIResourceList',
  'APIVersions',
  'Condition',
  'DeleteOptions',
  'FieldSelectorRequirement',
  'GroupResource',
  'GroupVersionForDiscovery',
  'Initializer',
  'Initializers',
  'LabelSelector',
  'LabelSelectorRequirement',
  'ListMeta',
  'ManagedFieldsEntry',
  'ObjectMeta',
  'OwnerReference',
  'Preconditions',
  'ServerAddressByClientCIDR',
  'ShardInfo',
  'Status',
  'StatusCause',
  'StatusDetails',
  'WatchEvent',
]);

/** Shapes of the core group that none of its kinds has, or only in another form. */
const CORE_SHAPES = new Set(['PersistentVolumeSpec', 'TopologySelectorLabelRequirement', 'TopologySelectorTerm']);

/** Returns the home of a shape that is determined by its name alone. */
export function fixedHome(shape: string): string | undefined {
  if (META_SHAPES.has(shape)) return META;
  return CORE_SHAPES.has(shape) ? 'v1' : undefined;
}

/** Shapes that every version of their group has separately, even if a kind is served in only one version. */
export const SHAPES_OF_EACH_VERSION: ReadonlySet<string> = new Set([
  'MatchCondition',
  'MatchResources',
  'NamedRuleWithOperations',
  'ParamKind',
  'ParamRef',
  'Variable',
]);

const META_PACKAGE = 'io.k8s.apimachinery.pkg.apis.meta.v1';

/** Definitions of values without fields. */
export const SCALARS = {
  time: `${META_PACKAGE}.Time`,
  microTime: `${META_PACKAGE}.MicroTime`,
  duration: `${META_PACKAGE}.Duration`,
  quantity: 'io.k8s.apimachinery.pkg.api.resource.Quantity',
  intOrString: 'io.k8s.apimachinery.pkg.util.intstr.IntOrString',
  any: 'io.k8s.apimachinery.pkg.runtime.RawExtension',
  fields: `${META_PACKAGE}.FieldsV1`,
  patch: `${META_PACKAGE}.Patch`,
} as const;

/** Groups whose shapes are in other packages in Kubernetes. */
const PACKAGES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'apiextensions.k8s.io': 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions',
    'metrics.k8s.io': 'io.k8s.metrics.pkg.apis.metrics',
  }),
);

/** Returns a definition's name: `io.k8s.api.apps.v1.Deployment`; with an own domain `com.example.stable.v1.Backup`. */
export function definitionName(home: string, shape: string): string {
  if (home === META) return `${META_PACKAGE}.${shape}`;
  const [group, version] = splitApiVersion(home);
  const own = group.includes('.') && !group.endsWith('.k8s.io');
  const usual = own ? group.split('.').reverse().join('.') : `io.k8s.api.${group.split('.')[0] || 'core'}`;
  return `${PACKAGES.get(group) ?? usual}.${version}.${shape}`;
}

/** Returns the part of an operation ID between verb and kind: `RbacAuthorizationV1`. */
export function operationInfix(apiVersion: string): string {
  const [group, version] = splitApiVersion(apiVersion);
  return groupTag(group).infix + capitalized(version);
}

/** Returns the tag of the operations of a group and version: `rbacAuthorization_v1`. */
export function operationTag(apiVersion: string): string {
  const [group, version] = splitApiVersion(apiVersion);
  return `${groupTag(group).tag}_${version}`;
}

/** Returns the form of a group in tags and operation IDs. */
export function groupTag(group: string): { tag: string; infix: string } {
  const [first = '', ...rest] = (group || 'core').replace(/\.k8s\.io$/, '').split('.');
  const tag = first + rest.map(capitalized).join('');
  return { tag, infix: capitalized(tag) };
}

export function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
