/** The document of `/metrics/resource`, in the text format of Prometheus. */
import { head, inBraces } from '../../../base/metrics/text.ts';
import type { PodStats } from './running-pods.ts';
import type { Samples } from './samples.ts';

interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
  /** Milliseconds since the epoch. */
  readonly time: number;
}

const NANOSECONDS = 1e9;
const MILLISECONDS = 1000;

export function resourceMetrics({ node }: Samples, pods: readonly PodStats[]): string {
  const containers = pods.flatMap(({ namespace, name: pod, containers: own }) =>
    own.map((each) => ({ ...each, labels: { container: each.name, namespace, pod } })),
  );
  const podTotals = pods.map(({ namespace, name: pod, containers: own }) => ({
    labels: { namespace, pod },
    time: Math.max(...own.map(({ usage }) => usage.time)),
    cpu: own.reduce((sum, { usage }) => sum + usage.cpuNanoseconds, 0),
    memory: own.reduce((sum, { usage }) => sum + usage.workingSet, 0),
  }));
  const current = node?.current;
  const ofNode = (value: number): Sample[] => (current ? [{ labels: {}, value, time: current.time }] : []);
  return [
    family(
      'container_cpu_usage_seconds_total',
      'counter',
      'Cumulative cpu time consumed by the container in core-seconds',
      containers.map(({ labels, usage }) => ({ labels, value: usage.cpuNanoseconds / NANOSECONDS, time: usage.time })),
    ),
    family(
      'container_memory_working_set_bytes',
      'gauge',
      'Current working set of the container in bytes',
      containers.map(({ labels, usage }) => ({ labels, value: usage.workingSet, time: usage.time })),
    ),
    family(
      'container_start_time_seconds',
      'gauge',
      'Start time of the container since unix epoch in seconds',
      containers.map(({ labels, usage, startedAt }) => ({ labels, value: startedAt / MILLISECONDS, time: usage.time })),
    ),
    family(
      'node_cpu_usage_seconds_total',
      'counter',
      'Cumulative cpu time consumed by the node in core-seconds',
      ofNode((current?.cpuNanoseconds ?? 0) / NANOSECONDS),
    ),
    family(
      'node_memory_working_set_bytes',
      'gauge',
      'Current working set of the node in bytes',
      ofNode(current?.memory.workingSetBytes ?? 0),
    ),
    family(
      'pod_cpu_usage_seconds_total',
      'counter',
      'Cumulative cpu time consumed by the pod in core-seconds',
      podTotals.map(({ labels, time, cpu }) => ({ labels, time, value: cpu / NANOSECONDS })),
    ),
    family(
      'pod_memory_working_set_bytes',
      'gauge',
      'Current working set of the pod in bytes',
      podTotals.map(({ labels, time, memory }) => ({ labels, time, value: memory })),
    ),
    '# HELP resource_scrape_error [STABLE] 1 if there was an error while getting container metrics, 0 otherwise\n' +
      `# TYPE resource_scrape_error gauge\nresource_scrape_error ${current ? 0 : 1}\n`,
  ].join('');
}

function family(name: string, type: 'counter' | 'gauge', help: string, samples: readonly Sample[]): string {
  if (samples.length === 0) return '';
  const lines = samples.map(({ labels, value, time }) => `${name}${inBraces(labels)} ${value} ${time}\n`);
  return `${head(name, type, `[STABLE] ${help}`)}\n${lines.join('')}`;
}
