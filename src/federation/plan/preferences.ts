/** Preferences for dividing the replicas of a federated object between clusters. */
import { isTree } from '../../base/json/tree.ts';
import { jsonIn } from './names.ts';

export interface ClusterPreference {
  readonly minReplicas: number;
  /** Maximum; absent for no limit. */
  readonly maxReplicas?: number;
  readonly weight: number;
}

export interface Preferences {
  /** True when running replicas may be moved to come closer to the weights. */
  readonly rebalance: boolean;
  /** Preferences by name; `*` is for clusters that are not named. Clusters without a preference get no replicas. */
  readonly clusters: Readonly<Record<string, ClusterPreference>>;
}

/** Returns the preference for a cluster; undefined when it gets no replicas. */
export function preferenceFor({ clusters }: Preferences, name: string): ClusterPreference | undefined {
  return Object.hasOwn(clusters, name) ? clusters[name] : clusters['*'];
}

/** Preferences without an annotation: the same number everywhere, also after a cluster joins or leaves. */
export const EVENLY: Preferences = { rebalance: true, clusters: { '*': { minReplicas: 0, weight: 1 } } };

/** Throws an error that explains an invalid annotation. */
export function parsePreferences(text: string | undefined): Preferences {
  const parsed = jsonIn('the replica preferences are', text, EVENLY);
  if (!isTree(parsed)) throw new Error('the replica preferences are not an object');
  const { rebalance = false, clusters = {} } = parsed;
  if (typeof rebalance !== 'boolean') throw new Error('rebalance in the replica preferences is neither true nor false');
  if (!isTree(clusters)) throw new Error('clusters in the replica preferences is not an object');
  const preferences = Object.entries(clusters).map(([name, value]) => [name, preferenceOf(name, value)] as const);
  return { rebalance, clusters: Object.fromEntries(preferences) };
}

function preferenceOf(cluster: string, value: unknown): ClusterPreference {
  if (!isTree(value)) throw new Error(`the replica preferences for ${cluster} are not an object`);
  const number = (field: string): number | undefined => {
    const found = value[field];
    if (found === undefined || found === null) return undefined;
    if (typeof found === 'number' && Number.isSafeInteger(found) && found >= 0) return found;
    throw new Error(`${field} in the replica preferences for ${cluster} is not a whole number of 0 or more`);
  };
  const [minReplicas = 0, maxReplicas, weight = 0] = [number('minReplicas'), number('maxReplicas'), number('weight')];
  if (maxReplicas !== undefined && maxReplicas < minReplicas) {
    throw new Error(`maxReplicas in the replica preferences for ${cluster} is less than minReplicas`);
  }
  return { minReplicas, weight, maxReplicas };
}
