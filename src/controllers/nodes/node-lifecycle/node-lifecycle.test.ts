import { describe, expect, it } from 'vitest';
import { fc, forAll } from '../../../../test/support/property-runs.ts';
import { evictingTaint, lostFrom, recordHeartbeat, taintsOf } from './health.ts';
import { EvictionRateLimiter, surveyZones } from './zones.ts';

const NOW = '2030-01-01T00:00:00Z';
const node = (conditions: readonly object[], spec: object = {}, labels: object = {}) =>
  ({ metadata: { name: 'n', labels, creationTimestamp: NOW }, spec, status: { conditions } }) as any;
const lease = (renewTime: number, leaseDurationSeconds = 40) =>
  ({ spec: { renewTime: new Date(renewTime).toISOString(), leaseDurationSeconds } }) as any;
const ready = (status: string) => ({ type: 'Ready', status });

describe('the heartbeat of a node', () => {
  it('is measured by the pace of its clock, not by its time', () => {
    forAll(fc.integer({ min: -1e9, max: 1e9 }), fc.array(fc.nat(60_000), { minLength: 1 }), (skew, gaps) => {
      const start = 2e12;
      let observedAt = recordHeartbeat(undefined, {
        node: node([ready('True')]),
        lease: lease(start + skew),
        now: start,
      });
      let time = start;
      for (const gap of gaps) {
        time += gap;
        // It is looked at late, and the sign of life was sent in time all the same.
        observedAt = recordHeartbeat(observedAt, {
          node: node([ready('True')]),
          lease: lease(time + skew),
          now: time + 45_000,
        });
        expect(observedAt.observedAt).toBe(time);
      }
      expect(lostFrom(observedAt, node([ready('True')]), lease(0))).toBe(time + 50_000);
    });
  });

  it('counts from now when the clock of the node went back, and is never in the future', () => {
    const at = (reportedAt: number, now: number, before?: any) =>
      recordHeartbeat(before, { node: node([ready('True')]), lease: lease(reportedAt), now });
    const first = at(1_000_000, 5000);
    expect(at(500_000, 9000, first)).toEqual({ reportedAt: 500_000, observedAt: 9000 });
    expect(at(9_000_000, 9000, first).observedAt).toBe(9000);
  });

  it('is waited for as long as the lease lasts', () => {
    const observedAt = { reportedAt: 1, observedAt: 1000 };
    expect(lostFrom(observedAt, node([ready('True')]), lease(0, 300))).toBe(301_000);
    expect(lostFrom(observedAt, node([]), lease(0, 300))).toBe(Date.parse(NOW) + 60_000);
  });
});

describe('the taints of a node', () => {
  const key = fc.constantFrom('mine', 'node.kubernetes.io/not-ready', 'node.kubernetes.io/disk-pressure', 'other');
  const effect = fc.constantFrom('NoSchedule', 'NoExecute', 'PreferNoSchedule');
  const taints = fc.uniqueArray(fc.record({ key, effect }), { selector: (taint) => `${taint.key} ${taint.effect}` });
  const conditions = fc.record({
    Ready: fc.constantFrom('True', 'False', 'Unknown'),
    DiskPressure: fc.constantFrom('True', 'False', 'Unknown'),
  });

  it('follow its conditions, leave those of others alone, and stay then', () => {
    forAll(taints, conditions, fc.boolean(), (present, reportedAt, isTurn) => {
      const list = Object.entries(reportedAt).map(([type, status]) => ({ type, status }));
      const before = node(list, { taints: present });
      const evicting = isTurn ? evictingTaint(before) : undefined;
      const after = taintsOf(before, evicting, NOW);
      const others = (each: readonly { key: string }[]) =>
        each.filter((taint) => taint.key === 'mine' || taint.key === 'other');
      expect(others(after)).toEqual(others(present));
      const has = (what: string, how: string) =>
        after.some((taint) => taint.key === `node.kubernetes.io/${what}` && taint.effect === how);
      expect(has('not-ready', 'NoSchedule')).toBe(reportedAt.Ready === 'False');
      expect(has('unreachable', 'NoSchedule')).toBe(reportedAt.Ready === 'Unknown');
      expect(has('disk-pressure', 'NoSchedule')).toBe(reportedAt.DiskPressure === 'True');
      expect(has('not-ready', 'NoExecute')).toBe(isTurn && reportedAt.Ready === 'False');
      expect(taintsOf(node(list, { taints: after }), evicting, 'later')).toEqual(after);
    });
  });

  it('do not follow from conditions that are named like properties of every object', () => {
    const strange = node([
      { type: 'constructor', status: 'name' },
      { type: 'Ready', status: 'constructor' },
    ]);
    expect(evictingTaint(strange)).toBeUndefined();
    expect(taintsOf(strange, undefined, NOW)).toEqual([]);
  });
});

describe('a zone', () => {
  const zone = (name: string, states: readonly string[]) =>
    states.map((status) => node([ready(status)], {}, { 'topology.kubernetes.io/zone': name }));
  const markUnknown = (count: number) => Array.from({ length: count }, () => 'Unknown');
  const well = (count: number) => Array.from({ length: count }, () => 'True');

  it('has a state by how many of its nodes are lost', () => {
    const zones = surveyZones([
      ...zone('a', [...markUnknown(2), ...well(1)]),
      ...zone('b', [...markUnknown(6), ...well(4)]),
      ...zone('c', markUnknown(3)),
    ]);
    expect([...zones.states.values()]).toEqual(['normal', 'partlyDisrupted', 'fullyDisrupted']);
    expect(zones.isAllLost).toBe(false);
    expect(surveyZones(zone('c', markUnknown(1))).isAllLost).toBe(true);
    expect(surveyZones([]).isAllLost).toBe(false);
  });

  it('limits evictions, more strictly when most of a large zone is lost, and stops them when most of a small one is', () => {
    const turns = (states: readonly string[]) => {
      const zones = surveyZones(zone('a', states));
      const pace = new EvictionRateLimiter();
      return [0, 5000, 10_000, 100_000].map((now) => pace.waitTime(' a', zones, now));
    };
    expect(turns([...markUnknown(2), ...well(8)])).toEqual([0, 5000, 0, 0]);
    expect(turns([...markUnknown(60), ...well(10)])).toEqual([0, 95_000, 90_000, 0]);
    expect(turns([...markUnknown(6), ...well(4)])).toEqual(Array.from({ length: 4 }, () => Number.POSITIVE_INFINITY));
  });
});
