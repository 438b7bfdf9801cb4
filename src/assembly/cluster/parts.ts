/** The parts of a cluster, in the order of its start, and what each of them is when it has started. */
import type { ClusterDns } from '../cluster-network/dns.ts';
import type { StartedNodes } from '../cluster-nodes/nodes.ts';
import type { ServedApi } from '../control-plane/https.ts';
import type { ControlPlane } from '../control-plane/start-control-plane.ts';
import type { MemberPlan } from '../etcd/member.ts';
import type { Pki } from '../keys/pki.ts';
import type { OpenStore } from '../store/open.ts';

export interface ClusterParts {
  /** The member of etcd that the cluster runs. */
  readonly etcd: MemberPlan;
  readonly store: OpenStore & { readonly revision: number };
  readonly certificates: Pki;
  /** Objects to start with: their number. */
  readonly objects: number;
  readonly controlPlane: ControlPlane;
  readonly https: ServedApi;
  /** The URL. */
  readonly insecure: string;
  /** Number of chosen controllers, number of all controllers, and whether the scheduler runs. */
  readonly components: { readonly chosen: number; readonly total: number; readonly schedules: boolean };
  readonly dns: ClusterDns;
  readonly nodes: StartedNodes;
  /** The URLs. */
  readonly ingress: readonly string[];
}

/** Starts a part, and shows that. */
export type StartPart = <Part extends keyof ClusterParts>(
  part: Part,
  start: () => Promise<ClusterParts[Part]>,
) => Promise<ClusterParts[Part]>;
