import { describe, expect, test } from 'vitest';
import type { Facts } from './facts.ts';
import { findings } from './findings.ts';

const HOUR_MS = 3_600_000;
const NOW = Date.parse('2030-01-01T12:00:00Z');
const newest = { name: 'dev-20300101T113000Z-hourly.qdbackup', time: NOW - HOUR_MS / 2, bytes: 1 };
const facts: Facts = {
  cluster: { kind: 'cluster', name: 'dev', directory: '/data', state: 'running' },
  api: { servers: [], nodes: 1, unready: [] },
  problem: undefined,
  store: { name: 'embedded', isDurable: true, bytes: 1 },
  backups: {
    target: '/data/backups',
    isScheduled: true,
    isRunning: false,
    newest,
    failures: 0,
    lastFailure: undefined,
  },
};
const found = (changes: Partial<Facts>, backups: Partial<NonNullable<Facts['backups']>> = {}) =>
  findings({ ...facts, backups: { ...facts.backups!, ...backups }, ...changes }, NOW);

describe('the findings about a cluster', () => {
  test('are none when it is in order', () => {
    expect(found({})).toEqual([]);
    expect(found({ backups: undefined })).toEqual([]);
    expect(found({}, { newest: undefined })).toEqual([]);
  });

  test.each([
    [{ cluster: { ...facts.cluster, state: 'stopped' } }, {}, 'the cluster is stopped'],
    [{ problem: 'connection refused' }, {}, 'the server does not answer: connection refused'],
    [{ api: { ...facts.api!, unready: ['a', 'b'] } }, {}, 'nodes are not ready: a, b'],
    [{}, { newest: { ...newest, time: NOW - 3 * HOUR_MS } }, 'the last backup is 3h old, and one is due each hour'],
    [{}, { failures: 2, lastFailure: 'no space' }, 'the last 2 backups failed: no space'],
    [{}, { problem: 'denied' }, 'the backups in /data/backups cannot be listed: denied'],
  ] as const)('name what is wrong: %j %j', (changes, backups, finding) => {
    expect(found(changes, backups)).toEqual([finding]);
  });

  test('do not complain of old backups of a cluster that is stopped, or has no schedule', () => {
    const old = { newest: { ...newest, time: NOW - 99 * HOUR_MS } };
    expect(found({ cluster: { ...facts.cluster, state: 'stopped' } }, old)).toEqual(['the cluster is stopped']);
    expect(found({}, { ...old, isScheduled: false })).toEqual([]);
  });
});
