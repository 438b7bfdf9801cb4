/** Compares discovery documents, which list all kinds of a server: kinds that both have must be the same. */

/** Resources in 1.36 and not in 1.7. */
const ADDED = [
  'pods/ephemeralcontainers',
  'pods/explain',
  'pods/resize',
  'serviceaccounts/token',
  'statefulsets/scale',
];

/** Resources in 1.7 of kinds that are gone. */
const NOT_HERE = ['ingresses', 'ingresses/status', 'networkpolicies', 'podsecuritypolicies', 'thirdpartyresources'];

/** Versions of 1.7 that nothing of the specification is in, and that were gone long before 1.36. */
const GONE = [
  ...['authentication.k8s.io/v1beta1', 'authorization.k8s.io/v1beta1', 'autoscaling/v2alpha1'],
  ...['certificates.k8s.io/v1beta1', 'rbac.authorization.k8s.io/v1alpha1', 'storage.k8s.io/v1beta1'],
];

/** Properties of resources that differ between 1.36 and 1.7. */
const CHANGED: Readonly<Record<string, readonly string[]>> = {
  // `proxy` was a verb once; services can be deleted together, and have a short name.
  nodes: ['verbs'],
  pods: ['verbs'],
  services: ['verbs', 'shortNames'],
  // Resources that open a stream are named by their options, and can be requested in two ways.
  'pods/attach': ['kind', 'verbs'],
  'pods/exec': ['kind', 'verbs'],
  'pods/portforward': ['kind', 'verbs'],
  'nodes/proxy': ['kind', 'verbs'],
  'pods/proxy': ['kind', 'verbs'],
  'services/proxy': ['kind', 'verbs'],
  // Resources with a kind of another group name that group.
  'pods/eviction': ['group', 'version'],
  'replicationcontrollers/scale': ['group', 'version'],
};

/** Returns the expected document: theirs, without missing parts and with newer ones. */
export function expectedDiscovery(theirs: any, ours: any): any {
  if (theirs.resources) return { ...theirs, resources: resources(theirs, ours) };
  if (theirs.groups) return { ...theirs, apiVersion: 'v1', groups: groups(theirs.groups, ours.groups) };
  return { ...theirs, ...newer(theirs, ours) };
}

function resources(theirs: any, ours: any): any[] {
  const own = new Map<string, any>(ours.resources.map((resource: any) => [resource.name, resource]));
  const kept = theirs.resources
    .filter(({ name }: any) => !NOT_HERE.includes(name) && !isStandIn(theirs, name))
    .map((resource: any) => {
      // Since 1.14 the stored version is named; since 1.26 the singular is listed, and more kinds are in `all`; a kind
      // of two groups is in it once.
      const fields = ['storageVersionHash', 'singularName', 'categories', ...(CHANGED[resource.name] ?? [])];
      const { categories: _, ...others } = resource;
      return { ...others, ...pick(own.get(resource.name) ?? {}, fields) };
    });
  return [...kept, ...ours.resources.filter(({ name }: any) => ADDED.includes(name))].sort(byName);
}

/** Their extensions had a stand-in for the scale of core's replication controllers. */
function isStandIn({ groupVersion }: any, name: string): boolean {
  return groupVersion === 'extensions/v1beta1' && name.startsWith('replicationcontrollers');
}

function groups(theirs: any[], ours: any[]): any[] {
  const known = new Map(theirs.map((group) => [group.name, group]));
  return ours.map((group) => {
    const observed = known.get(group.name);
    return observed ? { ...observed, ...newer(observed, group) } : group;
  });
}

/** Returns every version that they had, and ours besides; the preferred one is the newest stable. */
function newer(theirs: any, ours: any): object {
  const has = ({ groupVersion }: any) => ours.versions.some((version: any) => version.groupVersion === groupVersion);
  return {
    versions: [
      ...ours.versions,
      ...theirs.versions.filter((version: any) => !has(version) && !GONE.includes(version.groupVersion)),
    ],
    ...pick(ours, ['preferredVersion', 'serverAddressByClientCIDRs']),
  };
}

function pick(from: any, fields: readonly string[]): object {
  return Object.fromEntries(fields.filter((field) => field in from).map((field) => [field, from[field]]));
}

function byName(a: { name: string }, b: { name: string }): number {
  return a.name < b.name ? -1 : 1;
}
