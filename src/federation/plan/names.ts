/** Annotations and finalizers of federated objects. */

/** JSON list of requirements on the labels of clusters: `[{"key": "zone", "operator": "In", "values": ["a"]}]`. */
export const CLUSTER_SELECTOR = 'federation.alpha.kubernetes.io/cluster-selector';
/** JSON patches by cluster: `{"east": [{"op": "replace", "path": "/spec/replicas", "value": 1}]}`. */
export const OVERRIDES = 'federation.kubernetes.io/overrides';
export const DEPLOYMENT_PREFERENCES = 'federation.kubernetes.io/deployment-preferences';
/** Preferences for kinds that FederatedTypes name. */
export const REPLICA_PREFERENCES = 'federation.kubernetes.io/replica-preferences';
export const REPLICA_SET_PREFERENCES = 'federation.kubernetes.io/replica-set-preferences';
export const AUTOSCALER_PREFERENCES = 'federation.kubernetes.io/hpa-preferences';
export const JOB_PREFERENCES = 'federation.kubernetes.io/job-preferences';

/** Keeps a federated object until it is deleted in all members. */
export const DELETE_FROM_MEMBERS = 'federation.kubernetes.io/delete-from-underlying-clusters';
/** Finalizer: a delete leaves the objects in the members. The server removes it from a cascading delete. */
export const ORPHAN = 'orphan';
/** Set by a delete with `propagationPolicy=Foreground`. */
export const FOREGROUND = 'foregroundDeletion';

/** Annotations that mean something to the federation alone are not copied to members. */
export function isFederationAnnotation(name: string): boolean {
  return /^federation\.(?:alpha\.)?kubernetes\.io\//.test(name) || name === LAST_APPLIED;
}

/** Annotation of `kubectl apply`, which describes the federated object. */
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** The value of an annotation, or what it is without one. Throws an error when it is not JSON. */
export function jsonIn(what: string, text: string | undefined, otherwise: unknown): unknown {
  if (text === undefined || text.trim() === '') return otherwise;
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Error(`${what} not valid JSON: ${(cause as Error).message}`, { cause });
  }
}
