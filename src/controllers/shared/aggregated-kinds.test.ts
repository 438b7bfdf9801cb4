import { expect, it } from 'vitest';
import { type AggregatedApi, AggregatedKinds } from './aggregated-kinds.ts';

const gauges = { plural: 'gauges', kind: 'Gauge', namespaced: true, verbs: ['list', 'delete'] };
const dials = { plural: 'dials', kind: 'Dial', namespaced: false, verbs: ['list'] };
const api = (apiVersion: string, ...resources: (typeof gauges)[]): AggregatedApi => ({
  apiVersion,
  resources: () => resources,
});

it('AggregatedKinds has every resource once, in the preferred version that has it', () => {
  const apis = [
    api('a.example.com/v2', gauges),
    api('b.example.com/v1', gauges),
    api('a.example.com/v1', gauges, dials),
  ];
  const kinds = new AggregatedKinds({ aggregated: () => apis }).all();
  expect(kinds.map(({ hub, plural, scope }) => [hub.apiVersion, plural, scope])).toEqual([
    ['a.example.com/v2', 'gauges', 'Namespaced'],
    ['b.example.com/v1', 'gauges', 'Namespaced'],
    ['a.example.com/v1', 'dials', 'Cluster'],
  ]);
  expect(kinds[0]).toMatchObject({ isAggregated: true, group: 'a.example.com', kind: 'Gauge' });
});

it('AggregatedKinds returns the same value for what has not changed, and another for what has', () => {
  let resources = [gauges, dials];
  const kinds = new AggregatedKinds({ aggregated: () => [api('a.example.com/v1', ...resources)] });
  const [gauge, dial] = kinds.all();
  resources = [{ ...gauges }, { ...dials, verbs: ['list', 'watch'] }];
  expect(kinds.all()[0]).toBe(gauge);
  expect(kinds.all()[1]).not.toBe(dial);
});

it('AggregatedKinds says which groups and versions may be out of date', () => {
  const apis = [api('a.example.com/v1', gauges), { ...api('b.example.com/v1'), isStale: true }];
  expect(new AggregatedKinds({ aggregated: () => apis }).stale()).toEqual(['b.example.com/v1']);
});
