import { expect, it } from 'vitest';
import { report } from './explain-pod.ts';

const passed = { plugin: 'NodePorts', result: 'Passed' } as const;
const rejected = {
  plugin: 'NodeResourcesFit',
  result: 'Rejected',
  reasons: ['Insufficient cpu'],
  details: ['requests 16 CPUs, 1.75 of 2 free'],
  curable: true,
} as const;
const good = {
  name: 'node-1',
  fits: true,
  filters: [passed],
  scores: [
    { plugin: 'NodeResourcesFit', score: 80, weight: 1 },
    { plugin: 'NodeAffinity', score: 50, weight: 2 },
  ],
  total: 180,
};
const bad = { name: 'node-20', fits: false, filters: [rejected, passed] };

it('shows the scores of nodes that fit, and which plugins rejected the others', () => {
  expect(report('shop/web', { nodeName: 'node-1', message: '1/2 nodes fit', nodes: [good, bad] }, false)).toEqual([
    'shop/web: on node-1',
    '1/2 nodes fit.',
    '',
    'NODE      FITS   SCORE   WHY',
    'node-1    yes    180     NodeResourcesFit 80; NodeAffinity 2×50',
    'node-20   no     -       NodeResourcesFit: requests 16 CPUs, 1.75 of 2 free',
  ]);
});

it('shows accepting plugins with --all', () => {
  const lines = report('shop/web', { message: '0/1 nodes fit', nodes: [bad] }, true);
  expect(lines.at(-1)).toContain('NodeResourcesFit: requests 16 CPUs, 1.75 of 2 free; NodePorts passed');
});

it('shows the state of a pending pod', () => {
  const queue = { state: 'unschedulable', attempts: 1, rejectedBy: ['NodeResourcesFit'] };
  const said = { queue, nominatedNodeName: 'node-1', message: '0/0 nodes fit', nodes: [] };
  expect(report('shop/web', said, false)).toEqual([
    'shop/web: unschedulable, 1 attempt so far; node-1 is being freed for it by preemption',
    '0/0 nodes fit.',
  ]);
});

it('shows the reasons of plugins that have no numbers', () => {
  const tainted = {
    plugin: 'TaintToleration',
    result: 'Rejected',
    reasons: ['node(s) had untolerated taint(s)'],
  } as const;
  const lines = report('shop/web', { message: '0/1 nodes fit', nodes: [{ ...bad, filters: [tainted] }] }, false);
  expect(lines.at(-1)).toContain('TaintToleration: node(s) had untolerated taint(s)');
});
