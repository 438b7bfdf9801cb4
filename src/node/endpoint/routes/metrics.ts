/** Documents for `/metrics`, `/metrics/cadvisor` and `/metrics/probes`. */

import { head, inBraces } from '../../../base/metrics/text.ts';
import type { ClaimStats } from '../../machine/housekeeping.ts';
import type { Container } from '../../runtime/runtime.ts';
import type { EndpointNode } from '../endpoint-node.ts';

const NANOSECONDS = 1e9;
const MICROSECONDS = 1e6;
const MILLISECONDS = 1e3;

/** The agent itself. */
export async function agentMetrics(node: EndpointNode): Promise<string> {
  const containers = (await node.runtime?.containers()) ?? [];
  const byState = new Map<string, number>();
  for (const { state } of containers) byState.set(state, (byState.get(state) ?? 0) + 1);
  const sandboxes = (await node.runtime?.sandboxes()) ?? [];
  const { user, system } = process.cpuUsage();
  return metricText([
    gauge('kubelet_node_name', "[ALPHA] The node's name. The count is always 1.", [
      { labels: { node: node.name }, value: 1 },
    ]),
    gauge('kubelet_running_pods', '[BETA] Number of pods that have a running pod sandbox', [
      { value: sandboxes.filter(({ isReady }) => isReady).length },
    ]),
    gauge(
      'kubelet_running_containers',
      '[BETA] Number of containers currently running',
      [...byState].map(([state, value]) => ({ labels: { container_state: state }, value })),
    ),
    ...lifeMetrics(node),
    ...claimMetrics(await node.claimStats()),
    counter('process_cpu_seconds_total', 'Total user and system CPU time spent in seconds.', [
      { value: (user + system) / MICROSECONDS },
    ]),
    gauge('process_resident_memory_bytes', 'Resident memory size in bytes.', [{ value: process.memoryUsage.rss() }]),
  ]);
}

/** Starts and ends of pods and containers. */
const LIFE_METRICS = [
  [
    'started_containers_errors',
    '[BETA] Cumulative number of errors when starting containers',
    'startedContainerErrors',
  ],
  ['started_containers', '[BETA] Cumulative number of containers started', 'startedContainers'],
  ['started_pods_errors', '[BETA] Cumulative number of errors when starting pods', 'startedPodErrors'],
  ['started_pods', '[BETA] Cumulative number of pods started', 'startedPods'],
  ['terminated_containers', '[ALPHA] Cumulative number of containers terminated, by exit code', 'terminatedContainers'],
] as const;

function lifeMetrics({ counters }: EndpointNode): MetricFamily[] {
  if (!counters) return [];
  return LIFE_METRICS.map(([name, help, counted]) => counter(`kubelet_${name}_total`, help, counters.samples(counted)));
}

const CLAIM_METRICS = [
  ['available_bytes', 'Number of available bytes in the volume', 'availableBytes'],
  ['capacity_bytes', 'Capacity in bytes of the volume', 'capacityBytes'],
  ['inodes', 'Maximum number of inodes in the volume', 'inodes'],
  ['inodes_free', 'Number of free inodes in the volume', 'inodesFree'],
  ['inodes_used', 'Number of used inodes in the volume', 'inodesUsed'],
  ['used_bytes', 'Number of used bytes in the volume', 'usedBytes'],
] as const;

function claimMetrics(claims: readonly ClaimStats[]): MetricFamily[] {
  return CLAIM_METRICS.map(([name, help, field]) =>
    gauge(
      `kubelet_volume_stats_${name}`,
      `[ALPHA] ${help}`,
      claims.flatMap(({ namespace, claim, stats }) => {
        const value = stats[field];
        return value === undefined ? [] : [{ labels: { namespace, persistentvolumeclaim: claim }, value }];
      }),
    ),
  );
}

const NETWORK_METRICS = [
  ['received', 'bytes', 'receive_bytes_total', 'Cumulative count of bytes received'],
  ['received', 'errors', 'receive_errors_total', 'Cumulative count of errors encountered while receiving'],
  ['received', 'dropped', 'receive_packets_dropped_total', 'Cumulative count of packets dropped while receiving'],
  ['received', 'packets', 'receive_packets_total', 'Cumulative count of packets received'],
  ['sent', 'bytes', 'transmit_bytes_total', 'Cumulative count of bytes transmitted'],
  ['sent', 'errors', 'transmit_errors_total', 'Cumulative count of errors encountered while transmitting'],
  ['sent', 'dropped', 'transmit_packets_dropped_total', 'Cumulative count of packets dropped while transmitting'],
  ['sent', 'packets', 'transmit_packets_total', 'Cumulative count of packets transmitted'],
] as const;

/** Writes what containers use, with the names of cAdvisor. */
export async function containerMetrics(node: EndpointNode): Promise<string> {
  const { runtime } = node;
  if (!runtime) return '';
  const [sandboxes, containers] = await Promise.all([runtime.sandboxes(), runtime.containers()]);
  const [usages, podUsages] = await Promise.all([runtime.usage(), runtime.podUsage?.() ?? []]);
  const pods = new Map(sandboxes.map(({ id, pod }) => [id, pod]));
  const byId = new Map(containers.map((container) => [container.id, container]));
  const measured = usages.flatMap((usage) => {
    const container = byId.get(usage.id);
    const pod = container && pods.get(container.sandboxId);
    return container && pod ? [{ usage, container, labels: labelsOf(container, pod) }] : [];
  });
  const of = (value: (each: (typeof measured)[number]) => number | undefined): MetricSample[] =>
    measured.flatMap((each) => {
      const known = value(each);
      return known === undefined ? [] : [{ labels: each.labels, value: known }];
    });
  const networks = podUsages.flatMap(({ id, network = [] }) => {
    const pod = pods.get(id);
    return pod ? network.map((usage) => ({ usage, labels: networkLabels(id, usage.interface, pod) })) : [];
  });
  return metricText([
    counter(
      'container_cpu_cfs_periods_total',
      'Number of elapsed enforcement period intervals.',
      of(({ usage }) => usage.throttling?.periods),
    ),
    counter(
      'container_cpu_cfs_throttled_periods_total',
      'Number of throttled period intervals.',
      of(({ usage }) => usage.throttling?.throttledPeriods),
    ),
    counter(
      'container_cpu_cfs_throttled_seconds_total',
      'Total time duration the container has been throttled.',
      of(({ usage }) => usage.throttling && usage.throttling.throttledNanoseconds / NANOSECONDS),
    ),
    counter(
      'container_cpu_usage_seconds_total',
      'Cumulative cpu time consumed in seconds.',
      of(({ usage }) => usage.cpuNanoseconds / NANOSECONDS).map((sample) => ({
        ...sample,
        labels: { ...sample.labels, cpu: 'total' },
      })),
    ),
    gauge(
      'container_fs_usage_bytes',
      'Number of bytes that are consumed by the container on this filesystem.',
      of(({ usage }) => usage.writableBytes),
    ),
    gauge(
      'container_memory_rss',
      'Size of RSS in bytes.',
      of(({ usage }) => usage.rss),
    ),
    gauge(
      'container_memory_working_set_bytes',
      'Current working set in bytes.',
      of(({ usage }) => usage.workingSet),
    ),
    ...NETWORK_METRICS.map(([direction, counted, name, help]) =>
      counter(
        `container_network_${name}`,
        help,
        networks.map(({ usage, labels }) => ({ labels, value: usage[direction][counted] })),
      ),
    ),
    gauge(
      'container_start_time_seconds',
      'Start time of the container since unix epoch in seconds.',
      of(({ container }) => container.startedAt && container.startedAt / MILLISECONDS),
    ),
  ]);
}

/** How often the probes of containers have passed and failed. */
export function probeMetrics(node: EndpointNode): string {
  const samples = [...node.pods()].flatMap(({ pod, probes }) => {
    const { namespace = '', name = '', uid = '' } = pod.metadata;
    return probes().map(({ container, type, result, count }) => ({
      labels: { container, namespace, pod: name, pod_uid: uid, probe_type: type, result },
      value: count,
    }));
  });
  return metricText([
    counter(
      'prober_probe_total',
      '[BETA] Cumulative number of a liveness, readiness or startup probe for a container by result.',
      samples,
    ),
  ]);
}

const HEALTH_CHECKS = ['log', 'ping', 'syncloop'];

/** The checks of `/healthz`, which pass whenever the agent answers. */
export function healthMetrics(asked: number): string {
  const checks = asked === 0 ? [] : HEALTH_CHECKS;
  return metricText([
    gauge(
      'kubernetes_healthcheck',
      '[STABLE] This metric records the result of a single healthcheck.',
      checks.map((name) => ({ labels: { name, type: 'healthz' }, value: 1 })),
    ),
    counter(
      'kubernetes_healthchecks_total',
      '[STABLE] This metric records the results of all healthcheck.',
      checks.map((name) => ({ labels: { name, status: 'success', type: 'healthz' }, value: asked })),
    ),
  ]);
}

function labelsOf({ name, id, image }: Container, pod: { readonly namespace: string; readonly name: string }) {
  return { container: name, id: `/${id}`, image, name: id, namespace: pod.namespace, pod: pod.name };
}

/** The network is that of the sandbox, which is no container of the pod. */
function networkLabels(id: string, name: string, pod: { readonly namespace: string; readonly name: string }) {
  const sandbox = { container: '', id: `/${id}`, image: '', interface: name, name: id };
  return { ...sandbox, namespace: pod.namespace, pod: pod.name };
}

function gauge(name: string, help: string, samples: readonly MetricSample[]): MetricFamily {
  return { name, type: 'gauge', help, samples };
}

function counter(name: string, help: string, samples: readonly MetricSample[]): MetricFamily {
  return { name, type: 'counter', help, samples };
}

interface MetricSample {
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
}

interface MetricFamily {
  readonly name: string;
  readonly type: 'counter' | 'gauge';
  readonly help: string;
  readonly samples: readonly MetricSample[];
}

/** Families without samples are left out. */
function metricText(families: readonly MetricFamily[]): string {
  return families
    .filter(({ samples }) => samples.length > 0)
    .map(({ name, type, help, samples }) => {
      const lines = samples.map(({ labels, value }) => `${name}${inBraces(labels)} ${value}\n`);
      return `${head(name, type, help)}\n${lines.join('')}`;
    })
    .join('');
}
