import { expect, it } from 'vitest';
import { AgentCounters } from '../../agent/counters.ts';
import type { ContainerState } from '../../pod/plan/state.ts';
import type { EndpointNode } from '../endpoint-node.ts';
import { agentMetrics, containerMetrics } from './metrics.ts';

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

it('shows throttling of containers and the traffic of pods with the names and labels of cAdvisor', async () => {
  const usage = { time: 0, cpuNanoseconds: 2e9, workingSet: 1, rss: 1, writableBytes: undefined };
  const throttling = { periods: 40, throttledPeriods: 3, throttledNanoseconds: 5e8 };
  const received = { bytes: 1500, packets: 12, errors: 1, dropped: 2 };
  const sent = { bytes: 9000, packets: 30, errors: 3, dropped: 4 };
  const runtime = {
    sandboxes: async () => [{ id: 's', pod: { namespace: 'x', name: 'web', uid: 'u' } }],
    containers: async () => [
      { id: 'c', name: 'main', image: 'i', sandboxId: 's' },
      { id: 'd', name: 'free', image: 'i', sandboxId: 's' },
    ],
    usage: async () => [
      { ...usage, id: 'c', throttling },
      { ...usage, id: 'd' },
    ],
    podUsage: async () => [{ ...usage, id: 's', network: [{ interface: 'eth0', received, sent }] }],
  };
  const text = await containerMetrics(node({ runtime: runtime as unknown as NonNullable<EndpointNode['runtime']> }));
  const container = '{container="main",id="/c",image="i",name="c",namespace="x",pod="web"}';
  const pod = '{container="",id="/s",image="",interface="eth0",name="s",namespace="x",pod="web"}';
  expect(text.split('\n').filter((line) => /^container_(cpu_cfs|network)/.test(line))).toEqual([
    `container_cpu_cfs_periods_total${container} 40`,
    `container_cpu_cfs_throttled_periods_total${container} 3`,
    `container_cpu_cfs_throttled_seconds_total${container} 0.5`,
    `container_network_receive_bytes_total${pod} 1500`,
    `container_network_receive_errors_total${pod} 1`,
    `container_network_receive_packets_dropped_total${pod} 2`,
    `container_network_receive_packets_total${pod} 12`,
    `container_network_transmit_bytes_total${pod} 9000`,
    `container_network_transmit_errors_total${pod} 3`,
    `container_network_transmit_packets_dropped_total${pod} 4`,
    `container_network_transmit_packets_total${pod} 30`,
  ]);
});
