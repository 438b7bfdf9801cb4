/** What `/metrics`, `/metrics/cadvisor` and `/metrics/probes` show. */
import type { Container } from '../../runtime/runtime.ts';
import type { EndpointNode } from '../endpoint-node.ts';
import { type MetricFamily, type MetricSample, metricText } from './metric-text.ts';

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
    counter('process_cpu_seconds_total', 'Total user and system CPU time spent in seconds.', [
      { value: (user + system) / MICROSECONDS },
    ]),
    gauge('process_resident_memory_bytes', 'Resident memory size in bytes.', [{ value: process.memoryUsage.rss() }]),
  ]);
}

/** What containers use, with the names of cAdvisor. */
export async function containerMetrics(node: EndpointNode): Promise<string> {
  const { runtime } = node;
  if (!runtime) return '';
  const [sandboxes, containers, usages] = await Promise.all([
    runtime.sandboxes(),
    runtime.containers(),
    runtime.usage(),
  ]);
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
  return metricText([
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

function labelsOf({ name, id, image }: Container, pod: { readonly namespace: string; readonly name: string }) {
  return { container: name, id: `/${id}`, image, name: id, namespace: pod.namespace, pod: pod.name };
}

function gauge(name: string, help: string, samples: readonly MetricSample[]): MetricFamily {
  return { name, type: 'gauge', help, samples };
}

function counter(name: string, help: string, samples: readonly MetricSample[]): MetricFamily {
  return { name, type: 'counter', help, samples };
}
