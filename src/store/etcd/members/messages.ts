/** The messages of etcd's Cluster and Maintenance services, with only the fields that are used. */

/** Ids have 64 bits, which a number cannot hold. */
export type MemberId = bigint;

export interface EtcdMember {
  readonly id: MemberId;
  /** Empty until the member has been started for the first time. */
  readonly name: string;
  readonly peerUrls: readonly string[];
  /** None until the member has been started for the first time. */
  readonly clientUrls: readonly string[];
  /** A learner receives all data and does not vote. */
  readonly isLearner: boolean;
}

export interface MemberChange {
  readonly id?: MemberId;
  readonly peerUrls?: readonly string[];
  readonly isLearner?: boolean;
}

export interface Members {
  /** The member that was added. */
  readonly added: EtcdMember | undefined;
  readonly members: readonly EtcdMember[];
}

export interface MemberStatus {
  /** The member that answered. */
  readonly id: MemberId;
  /** 0n: there is none. */
  readonly leader: MemberId;
  /** Number of the election by which the member had its leader. */
  readonly term: number;
  readonly version: string;
  readonly fileBytes: number;
  readonly usedBytes: number;
  readonly isLearner: boolean;
}
