import { expect, it } from 'vitest';
import { AgentCounters } from '../../agent/counters.ts';
import type { ContainerState } from '../../pod/plan/state.ts';
import type { EndpointNode } from '../endpoint-node.ts';
import { agentMetrics } from './metrics.ts';

const container = (role: string, ...records: object[]) => ({ role, records }) as unknown as ContainerState;
const node = (more: Partial<EndpointNode>) =>
  ({ name: 'n', runtime: undefined, counters: undefined, claimStats: async () => [], ...more }) as EndpointNode;

it('counts starts and ends of pods and containers', async () => {
  const counters = new AgentCounters();
  const known = new Set<string>();
  counters.podStarted(true);
  counters.podStarted(false);
  counters.containerStarted('init', undefined);
  counters.containerStarted('main', 'RunContainerError');
  const failed = { id: 'a', state: 'exited', exitCode: 139 };
  counters.containersEnded([container('main', { id: 'b', state: 'running' }, failed)], known);
  counters.containersEnded([container('main', { id: 'b', state: 'exited', exitCode: 139 }, failed)], known);
  counters.containersEnded([container('init', { id: 'c', state: 'exited', exitCode: 0 })], known);
  expect([...known]).toEqual(['c']);
  const text = await agentMetrics(node({ counters }));
  expect(text.split('\n').filter((line) => /^kubelet_(started|terminated)/.test(line))).toEqual([
    'kubelet_started_containers_errors_total{code="RunContainerError",container_type="container"} 1',
    'kubelet_started_containers_total{container_type="init_container"} 1',
    'kubelet_started_containers_total{container_type="container"} 1',
    'kubelet_started_pods_errors_total 1',
    'kubelet_started_pods_total 2',
    'kubelet_terminated_containers_total{container_type="container",exit_code="139"} 2',
    'kubelet_terminated_containers_total{container_type="init_container",exit_code="0"} 1',
  ]);
});

it('shows what drivers know of the volumes of claims', async () => {
  const stats = { name: 'data', capacityBytes: 100, usedBytes: 40 };
  const text = await agentMetrics(node({ claimStats: async () => [{ namespace: 'x', claim: 'c', stats }] }));
  expect(text.split('\n').filter((line) => line.startsWith('kubelet_volume'))).toEqual([
    'kubelet_volume_stats_capacity_bytes{namespace="x",persistentvolumeclaim="c"} 100',
    'kubelet_volume_stats_used_bytes{namespace="x",persistentvolumeclaim="c"} 40',
  ]);
});
