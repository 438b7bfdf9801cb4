/** How a node with real pods is configured. */
import type { Taint } from '../../kinds/placement/tolerations.ts';
import type { RouteMode } from '../../network/routes/routing-of.ts';
import type { RegistrySettings } from '../../node/images/registry/hosts.ts';
import { DEFAULT_THRESHOLDS, type Threshold } from '../../node/machine/pressure/thresholds.ts';

export type { Taint } from '../../kinds/placement/tolerations.ts';

/** Quantities by name of the resource. */
export type Resources = Readonly<Record<string, string>>;

export interface NodeConfig {
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
  readonly maxPods: number;
  /** Maximum number of processes and threads of a pod; undefined: no limit. */
  readonly podPidsLimit: number | undefined;
  /** True when pods may use the file system of the node as their image. */
  readonly allowsHostImage: boolean;
  readonly reserved: Resources;
  readonly thresholds: readonly Threshold[];
  readonly allowedUnsafeSysctls: readonly string[];
  /** Directory of the manifests of static pods; undefined: there are none. */
  readonly podManifestPath: string | undefined;
  readonly registries: RegistrySettings;
  /** Addresses that probes, hooks and images may lead to, whatever they are. */
  readonly allowedDialRanges: readonly string[];
  readonly liveConfigVolumes: boolean;
  /** How the pods of other machines are reached. */
  readonly podRoutes: RouteMode;
}

export const DEFAULT_NODE_CONFIG: NodeConfig = {
  labels: {},
  taints: [],
  maxPods: 110,
  // More than ordinary programs have, and few enough that a fork bomb does not take the node.
  podPidsLimit: 4_096,
  allowsHostImage: false,
  reserved: {},
  thresholds: DEFAULT_THRESHOLDS,
  allowedUnsafeSysctls: [],
  podManifestPath: undefined,
  registries: { mirrors: {}, insecure: [] },
  allowedDialRanges: [],
  liveConfigVolumes: false,
  podRoutes: 'auto',
};
