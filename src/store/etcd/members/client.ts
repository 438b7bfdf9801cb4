/** Manages the members of an etcd cluster, through any of them. */

import type { Clock } from '../../../base/time/clock.ts';
import type { Method } from '../../../protocols/grpc/call.ts';
import type { TlsOptions } from '../../../protocols/grpc/client.ts';
import { Connection } from '../connection.ts';
import {
  decodeMemberAdd,
  decodeMembers,
  decodeNothing,
  encodeMember,
  encodeMemberAdd,
  encodeNothing,
} from './codec.ts';
import type { EtcdMember, MemberChange, MemberId, MemberStatus, Members } from './messages.ts';
import { statusMethod } from './status.ts';

const changing = (path: string): Method<MemberChange, Members> => ({
  path: `/etcdserverpb.Cluster/${path}`,
  encode: encodeMember,
  decode: decodeMembers,
});

const methods = {
  list: { ...changing('MemberList'), encode: encodeNothing },
  add: { ...changing('MemberAdd'), encode: encodeMemberAdd, decode: decodeMemberAdd },
  remove: changing('MemberRemove'),
  update: changing('MemberUpdate'),
  promote: changing('MemberPromote'),
  status: statusMethod,
  defragment: { path: '/etcdserverpb.Maintenance/Defragment', encode: encodeNothing, decode: decodeNothing },
};

/** The time that etcd itself gives to a change of its members is seven seconds. */
const TIMEOUT_MS = 10_000;

export interface MembersClientOptions {
  /** URLs of members; status() and defragment() want one. */
  readonly endpoints: readonly string[];
  readonly tls: TlsOptions;
  readonly clock: Clock;
  readonly timeoutMilliseconds?: number;
}

export class MembersClient {
  readonly #connection: Connection;

  constructor(options: MembersClientOptions) {
    this.#connection = new Connection({ timeoutMilliseconds: TIMEOUT_MS, ...options });
  }

  async list(): Promise<readonly EtcdMember[]> {
    return (await this.#connection.call(methods.list, {})).members;
  }

  /** Adds a member that receives data and does not vote until it is promoted. Resolves with all members. */
  async addLearner(peerUrl: string): Promise<readonly EtcdMember[]> {
    const change = { peerUrls: [peerUrl], isLearner: true };
    return (await this.#connection.call(methods.add, change)).members;
  }

  async remove(id: MemberId): Promise<void> {
    await this.#connection.call(methods.remove, { id });
  }

  /** Changes where the others reach a member. */
  async move(id: MemberId, peerUrl: string): Promise<void> {
    await this.#connection.call(methods.update, { id, peerUrls: [peerUrl] });
  }

  /** Lets a learner vote. Rejects while it has not received all data. */
  async promote(id: MemberId): Promise<void> {
    await this.#connection.call(methods.promote, { id });
  }

  /** The state of the member that the endpoint belongs to. */
  status(): Promise<MemberStatus> {
    return this.#connection.call(methods.status, {});
  }

  /** Gives the space of deleted data back to the file system. The member answers nothing meanwhile. */
  async defragment(): Promise<void> {
    await this.#connection.call(methods.defragment, {});
  }

  close(): void {
    this.#connection.close();
  }
}
