import { expect, test } from 'vitest';
import { type PlannedMember, planDefragmentation } from './defragment.ts';

const MIB = 2 ** 20;
const member = (id: bigint, fileMiB: number, usedMiB: number): PlannedMember => ({
  clientUrls: [`https://${id}`],
  status: {
    id,
    leader: 1n,
    term: 2,
    version: '3.4',
    isLearner: false,
    fileBytes: fileMiB * MIB,
    usedBytes: usedMiB * MIB,
  },
});
const planned = (...members: readonly PlannedMember[]) =>
  planDefragmentation(members).map(({ clientUrls }) => clientUrls[0]);

test('the leader is defragmented last', () => {
  expect(planned(member(1n, 900, 100), member(2n, 900, 100), member(3n, 900, 100))).toEqual([
    'https://2',
    'https://3',
    'https://1',
  ]);
});

test('members with little to give back are left alone', () => {
  expect(planned(member(1n, 100, 60), member(2n, 1_000, 900), member(3n, 200, 20))).toEqual(['https://3']);
});

test('while a member is silent, the others are left alone', () => {
  expect(planned(member(1n, 900, 100), member(2n, 900, 100), { clientUrls: [], status: undefined })).toEqual([]);
});
