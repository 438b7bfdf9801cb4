/** The method by which a member describes itself, without asking the others: it answers also while it has no leader. */
import type { Method } from '../../../protocols/grpc/call.ts';
import { decodeStatus, encodeNothing } from './codec.ts';
import type { MemberStatus } from './messages.ts';

export const statusMethod: Method<object, MemberStatus> = {
  path: '/etcdserverpb.Maintenance/Status',
  encode: encodeNothing,
  decode: decodeStatus,
};
