/** Effect of NetworkPolicies on the pods of one node. */

export type Direction = 'ingress' | 'egress';

/** A range of addresses without some ranges in it. */
interface Block {
  readonly range: string;
  readonly except: readonly string[];
}

/** The other end of allowed traffic. */
export interface Peers {
  /** Addresses of pods. */
  readonly pods: readonly string[];
  readonly blocks: readonly Block[];
}

export interface AllowedPort {
  readonly protocol: 'tcp' | 'udp' | 'sctp';
  /** First and last port; undefined: all. */
  readonly range: readonly [first: number, last: number] | undefined;
}

/** A named port may have another number on every pod. */
export interface NamedPort {
  readonly protocol: 'tcp' | 'udp' | 'sctp';
  readonly destinations: readonly { readonly address: string; readonly port: number }[];
}

/** Traffic that one rule of a policy allows: from or to one of the peers, at one of the ports. */
export interface Allowance {
  /** Unique: policy, direction and position of the rule. */
  readonly id: string;
  /** Allowed peers; undefined for everyone. */
  readonly peers: Peers | undefined;
  /** Allowed ports; undefined for all. */
  readonly ports: readonly (AllowedPort | NamedPort)[] | undefined;
}

/** Pods that the same policies isolate in one direction. */
export interface Isolation {
  readonly direction: Direction;
  /** The policies, by `namespace/name`. */
  readonly policies: readonly string[];
  /** Addresses of the pods, all on this node. */
  readonly pods: readonly string[];
  readonly allowances: readonly Allowance[];
}

export type PolicySet = readonly Isolation[];

export interface PolicyApplier {
  /** Resolves when new connections follow the policies, all of which are given. After it was rejected, it must be called again. */
  isolate(policies: PolicySet): Promise<void>;
}
