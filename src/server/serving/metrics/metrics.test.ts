import { expect, it } from 'vitest';
import { smallRegistry } from '../../../../test/support/http-server.ts';
import { Histogram } from '../../../base/metrics/histogram.ts';
import { ControlledClock } from '../../../base/time/clock.ts';
import { MemoryStore } from '../../../store/memory/memory-store.ts';
import { Metrics } from './metrics.ts';
import { ObjectMetrics } from './objects.ts';

const build = { major: '1', minor: '36', gitVersion: 'v1.36.4', gitCommit: 'abc', platform: 'linux/arm64' };
const registry = smallRegistry();
const pods = registry.resource('v1', 'pods')!;
const on = (name?: string, namespace?: string) => ({ resource: pods, subresource: undefined, namespace, name });

it('counts requests by resource, verb and result', () => {
  const clock = new ControlledClock();
  const { requests, text } = metricsOf(clock);
  const begun = requests.began('get', on('a', 'default'));
  expect(text()).toContain('apiserver_current_inflight_requests{request_kind="readOnly"} 1\n');
  requests.ended(begun, 200, 0.03);
  requests.ended(requests.began('get', on('b', 'default')), 404, 0.001);
  requests.began('create', on(undefined, 'default'));
  const labels =
    'component="apiserver",dry_run="",group="",resource="pods",scope="resource",subresource="",verb="GET",version="v1"';
  const said = text();
  expect(said).toContain(`apiserver_request_total{code="200",${labels}} 1\n`);
  expect(said).toContain(`apiserver_request_total{code="404",${labels}} 1\n`);
  expect(said).toContain(`apiserver_request_duration_seconds_bucket{${labels},le="0.025"} 1\n`);
  expect(said).toContain(`apiserver_request_duration_seconds_bucket{${labels},le="+Inf"} 2\n`);
  expect(said).toContain(`apiserver_request_duration_seconds_count{${labels}} 2\n`);
  expect(said).toContain('apiserver_current_inflight_requests{request_kind="mutating"} 1\n');
  expect(said).toContain('apiserver_current_inflight_requests{request_kind="readOnly"} 0\n');
});

it('counts watches while they are open', () => {
  const { requests, text } = metricsOf(new ControlledClock());
  const one = requests.began('watch', on());
  requests.began('watch', on(undefined, 'default'));
  expect(text()).toContain('apiserver_registered_watchers{group="",version="v1",kind="Pod"} 2\n');
  expect(text()).toMatch(/apiserver_longrunning_requests\{.*scope="cluster".*verb="WATCH".*\} 1\n/);
  requests.ended(one, 200, 60);
  expect(text()).toContain('apiserver_registered_watchers{group="",version="v1",kind="Pod"} 1\n');
});

it('measures commits', async () => {
  const clock = new ControlledClock();
  const metrics = new Metrics(clock);
  const store = metrics.store.measured(new MemoryStore({ clock }), clock);
  await store.commit([{ key: 'a', value: Buffer.from('1') }]);
  await expect(store.commit([{ key: 'a', value: null, expect: 99 }])).rejects.toThrow();
  expect(await store.get('a')).toMatchObject({ key: 'a' });
  expect(metrics.text(build)).toContain('etcd_request_duration_seconds_count{operation="txn",type="*"} 2\n');
});

it('counts the objects of every stored kind', () => {
  const kinds = [
    { group: '', plural: 'pods' },
    { group: 'apps', plural: 'deployments' },
    { group: 'authentication.k8s.io', plural: 'tokenreviews', verbs: ['create'] as const },
  ];
  const metrics = new Metrics(new ControlledClock());
  const counts = new ObjectMetrics(
    () => kinds,
    ({ plural }) => plural.length,
  );
  metrics.add(counts);
  const said = metrics.text(build);
  expect(said).toContain('apiserver_resource_objects{group="",resource="pods"} 4\n');
  expect(said).toContain('apiserver_storage_objects{resource="pods"} 4\n');
  expect(said).toContain('apiserver_storage_objects{resource="deployments.apps"} 11\n');
  expect(said).not.toContain('tokenreviews');
});

it('reports the release, and the resources of the process', () => {
  const said = metricsOf(new ControlledClock()).text();
  expect(said).toContain('kubernetes_build_info{git_commit="abc",git_version="v1.36.4",major="1"');
  for (const name of ['process_cpu_seconds_total', 'process_resident_memory_bytes', 'nodejs_heap_size_used_bytes']) {
    expect(said).toMatch(new RegExp(`^${name} [0-9.e+]+$`, 'm'));
  }
});

it('writes lines that can be parsed', () => {
  const line = /^(# (HELP|TYPE) [a-z_]+ .+|[a-z_]+(\{([a-z_]+="[^"]*",?)*\})? [-+0-9.e]+)$/;
  const { requests, text } = metricsOf(new ControlledClock());
  requests.ended(requests.began('list', on()), 200, 0);
  for (const each of text().trimEnd().split('\n')) expect(each).toMatch(line);
});

it('counts a duration in its bucket and in all larger ones', () => {
  const histogram = new Histogram([1, 2]);
  for (const seconds of [0.5, 1, 1.5, 9]) histogram.observe(seconds);
  expect([...histogram.lines('x', '')]).toEqual([
    'x_bucket{le="1"} 2',
    'x_bucket{le="2"} 3',
    'x_bucket{le="+Inf"} 4',
    'x_sum 12',
    'x_count 4',
  ]);
});

function metricsOf(clock: ControlledClock) {
  const metrics = new Metrics(clock);
  return { requests: metrics.requests, text: () => metrics.text(build) };
}
