import { expect, it } from 'vitest';
import { limitsOf } from './limits.ts';

const RESOURCES = {
  cpuShares: 512,
  cpuQuota: 50_000,
  cpuPeriod: 100_000,
  memoryBytes: 64 << 20,
  oomScoreAdj: undefined,
  hugepages: [],
  cpusetCpus: undefined,
  unified: undefined,
};

it('writes the files of version 1', () => {
  expect(limitsOf(RESOURCES, 1)).toEqual([
    ['memory', 'memory.limit_in_bytes', '67108864'],
    ['cpu', 'cpu.shares', '512'],
    ['cpu', 'cpu.cfs_period_us', '100000'],
    ['cpu', 'cpu.cfs_quota_us', '50000'],
  ]);
});

it('writes the files of version 2, with a weight for shares', () => {
  expect(limitsOf({ ...RESOURCES, unified: { 'memory.high': '1000' } }, 2)).toEqual([
    ['memory', 'memory.max', '67108864'],
    ['cpu', 'cpu.weight', '20'],
    ['cpu', 'cpu.max', '50000 100000'],
    ['memory', 'memory.high', '1000'],
  ]);
});

it('limits processes in both versions', () => {
  for (const version of [1, 2] as const) {
    expect(limitsOf({ ...RESOURCES, pidsLimit: 4096 }, version)).toContainEqual(['pids', 'pids.max', '4096']);
  }
});

it('lifts a quota', () => {
  expect(limitsOf({ ...RESOURCES, memoryBytes: undefined, cpuShares: undefined, cpuQuota: -1 }, 2)).toEqual([
    ['cpu', 'cpu.max', 'max 100000'],
  ]);
});

it('writes nothing for what has no limit', () => {
  const none = {
    ...RESOURCES,
    cpuShares: undefined,
    cpuQuota: undefined,
    cpuPeriod: undefined,
    memoryBytes: undefined,
  };
  expect(limitsOf(none, 1)).toEqual([]);
  expect(limitsOf(none, 2)).toEqual([]);
});
