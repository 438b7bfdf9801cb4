/** Options of a node. */
import type { UpgradePort } from '../../api/machine-upgrade.ts';
import type { Tools } from '../../base/tools.ts';
import type { Client } from '../../client/client.ts';
import type { PodNetwork } from '../../node/agent/actions/context.ts';
import type { ApiServerAddress } from '../../node/agent/objects.ts';
import type { AssemblyError } from '../assembly-error.ts';
import type { NodeNetwork } from './network/network-plan.ts';
import type { NodeConfig } from './node-config.ts';
import type { RealRuntime } from './open-runtime.ts';

export interface NodeOptions extends Tools {
  /** Acts as the node. */
  readonly client: Client;
  readonly name: string;
  /** True when another machine might run a node of this name. */
  readonly canBeElsewhere: boolean;
  /** Called when another machine runs the node now: its reports have ended, and it is to be stopped. */
  readonly onTaken?: (error: AssemblyError) => void;
  readonly runtime: RealRuntime;
  /** A CRI socket; undefined or empty: that of the machine's containerd, or an own one. */
  readonly endpoint: string | undefined;
  /** The addresses of the node, which pods on its network have, too. */
  readonly addresses: readonly string[];
  /** The range of the pods' addresses; undefined: the one that the cluster gives to the node. */
  readonly podCIDR: string | undefined;
  readonly dataDirectory: string;
  /** Where the volumes are that were provisioned on the node; undefined: at the paths that they have. */
  readonly volumesDirectory?: string | undefined;
  readonly clusterDomain: string;
  /** The addresses of the cluster's DNS servers, for a pod that starts now. */
  readonly clusterDns: () => readonly string[];
  /** Where programs are searched: the value of PATH. */
  readonly path: string;
  /** Lists paths of this machine that pods with its files do not see: data directories of clusters, and kubeconfigs. */
  readonly hidden: () => Promise<readonly string[]>;
  /** Where the API server is that the node was given. */
  readonly apiServer: ApiServerAddress;
  /** Where a pod that starts now reaches the API when there are no rules for its Service. Default: at `apiServer`. */
  readonly apiServerForPods?: (() => ApiServerAddress) | undefined;
  readonly config: NodeConfig;
  /** A network of its own; undefined: that of the machine. */
  readonly network?: OwnNetwork | undefined;
  /** The runtime is opened after this: it would take time from a cluster that starts in the same process. */
  readonly openAfter?: Promise<void>;
  /** The Kubernetes version to report: `v1.36.4`. */
  readonly version: string;
  readonly watchSeconds?: number;
  /** Makes Services and network policies work on the node. */
  readonly startServices?: (node: ServicesNode) => Promise<RunningServices>;
  /** Removes the rules that an earlier process left for the node, if nothing needs them. Undefined: rules stay when the node is stopped. */
  readonly removeRules?: (node: RulesOwner) => Promise<void>;
  /** Replaces the program of the node with another release; absent: the node is a part of another program. */
  readonly upgrades?: UpgradePort | undefined;
  /**
   * Certificates of the cluster's authorities, as PEM, for the endpoint that other processes reach the agent at. Undefined: only
   * this process reaches it.
   */
  readonly authority?: (() => string) | undefined;
}

/** Node that has run before, as the owner of rules on this machine. */
export interface RulesOwner {
  readonly name: string;
  /** Identifies the node on this machine. */
  readonly shortName: string;
  /** Path of its network namespace; undefined: that of the machine. */
  readonly networkNamespace: string | undefined;
}

/** Node whose runtime is open, with its addresses. */
export interface ServicesNode extends RulesOwner {
  readonly addresses: readonly string[];
  readonly podCIDRs: readonly string[];
  /** The addresses of the pods that run now, by UID. */
  readonly runningPods: () => Promise<ReadonlyMap<string, readonly string[]>>;
}

export interface RunningServices extends PodNetwork {
  stop(): Promise<void>;
}

export interface OwnNetwork extends NodeNetwork {
  /** The address of the machine, through which other machines reach it. */
  readonly gateway: string;
  /** Makes it, and the way to the node's pods. */
  open(podCIDR: string): Promise<void>;
}
