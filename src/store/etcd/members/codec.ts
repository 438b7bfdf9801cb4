/** Encodes and decodes the messages of messages.ts as protobuf, as ../codec.ts does. */
import { ProtoReader } from '../../../protocols/protobuf/reader.ts';
import { ProtoWriter } from '../../../protocols/protobuf/writer.ts';
import type { EtcdMember, MemberChange, MemberId, MemberStatus, Members } from './messages.ts';

const out = new ProtoWriter(1_024);
const EMPTY = Buffer.alloc(0);

export const encodeNothing = (_: object): Buffer => EMPTY;

export function encodeMemberAdd({ peerUrls = [], isLearner = false }: MemberChange): Buffer {
  if (isLearner) out.boolean(2, true);
  for (const url of peerUrls.toReversed()) out.string(1, url);
  return out.finish();
}

/** A request to remove, promote or move a member. */
export function encodeMember({ id = 0n, peerUrls = [] }: MemberChange): Buffer {
  for (const url of peerUrls.toReversed()) out.string(2, url);
  out.uint64(1, id);
  return out.finish();
}

/** A list stands in another field of the answer to an addition than in all others. */
export const decodeMembers = (message: Buffer): Members => readMembers(message, { list: 2 });
export const decodeMemberAdd = (message: Buffer): Members => readMembers(message, { added: 2, list: 3 });

function readMembers(message: Buffer, fields: { readonly added?: number; readonly list: number }): Members {
  const reader = new ProtoReader(message);
  let added: EtcdMember | undefined;
  const members: EtcdMember[] = [];
  for (let field = reader.next(); field; field = reader.next()) {
    if (field === fields.added) added = reader.message(readMember);
    else if (field === fields.list) members.push(reader.message(readMember));
    else reader.skip();
  }
  return { added, members };
}

function readMember(reader: ProtoReader): EtcdMember {
  const [peerUrls, clientUrls]: [string[], string[]] = [[], []];
  let id: MemberId = 0n;
  let name = '';
  let isLearner = false;
  for (let field = reader.next(); field; field = reader.next()) {
    if (field === 1) id = reader.uint64();
    else if (field === 2) name = reader.string();
    else if (field === 3) peerUrls.push(reader.string());
    else if (field === 4) clientUrls.push(reader.string());
    else if (field === 5) isLearner = reader.boolean();
    else reader.skip();
  }
  return { id, name, peerUrls, clientUrls, isLearner };
}

export function decodeStatus(message: Buffer): MemberStatus {
  const reader = new ProtoReader(message);
  let [id, leader]: [MemberId, MemberId] = [0n, 0n];
  let [fileBytes, usedBytes, term] = [0, 0, 0];
  let version = '';
  let isLearner = false;
  for (let field = reader.next(); field; field = reader.next()) {
    if (field === 1) id = reader.message(readMemberOfHeader);
    else if (field === 2) version = reader.string();
    else if (field === 3) fileBytes = reader.number();
    else if (field === 4) leader = reader.uint64();
    else if (field === 6) term = reader.number();
    else if (field === 9) usedBytes = reader.number();
    else if (field === 10) isLearner = reader.boolean();
    else reader.skip();
  }
  return { id, leader, term, version, fileBytes, usedBytes, isLearner };
}

function readMemberOfHeader(reader: ProtoReader): MemberId {
  let id: MemberId = 0n;
  for (let field = reader.next(); field; field = reader.next()) {
    if (field === 2) id = reader.uint64();
    else reader.skip();
  }
  return id;
}

export const decodeNothing = (_: Buffer): object => ({});
