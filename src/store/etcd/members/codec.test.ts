import { describe, expect, test } from 'vitest';
import { decodeMemberAdd, decodeMembers, decodeStatus, encodeMember, encodeMemberAdd } from './codec.ts';

/** Larger than a number holds exactly, as ids of members are. */
const ID = 0x8e9e05c52164694dn;
/** Field 1 with that number. */
const ID_FIELD = '08cdd2918bd2b881cf8e01';

describe('messages about members', () => {
  test('keep all 64 bits of an id', () => {
    expect(encodeMember({ id: ID }).toString('hex')).toBe(ID_FIELD);
    const member = `${ID_FIELD}1201611a03753a312203753a322801`;
    const list = Buffer.from(`0a00${'12'}${(member.length / 2).toString(16)}${member}`, 'hex');
    const expected = { id: ID, name: 'a', peerUrls: ['u:1'], clientUrls: ['u:2'], isLearner: true };
    expect(decodeMembers(list)).toEqual({ added: undefined, members: [expected] });
    expect(decodeMemberAdd(list)).toEqual({ added: expected, members: [] });
  });

  test('have the fields where etcd expects them', () => {
    expect(encodeMemberAdd({ peerUrls: ['u:1'], isLearner: true }).toString('hex')).toBe('0a03753a311001');
    expect(encodeMember({ id: 5n, peerUrls: ['u:1'] }).toString('hex')).toBe('08051203753a31');
  });

  test('tell the state of a member', () => {
    const header = Buffer.from(`0a0408011007120133${'1864'}2009300348325001`, 'hex');
    expect(decodeStatus(header)).toEqual({
      id: 7n,
      version: '3',
      fileBytes: 100,
      leader: 9n,
      term: 3,
      usedBytes: 50,
      isLearner: true,
    });
  });
});
