/** Measures `quarterdeck/testing` in this process, and prints the figures as JSON. Its argument is the built module. */
import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const MANY = 100;
const OBJECTS = 1_000;
const CRON_JOBS = 50;
const IDLE_MS = 2_000;

const begin = performance.now();
const { Cluster } = await import(pathToFileURL(process.argv[2]));
const first = await Cluster.start({ seed: 1 });
await first.get('node/node-1');
const firstMs = performance.now() - begin;

const timed = async (work) => {
  const start = performance.now();
  const result = await work();
  return { ms: performance.now() - start, result };
};
// A flag at the start would make V8 compile everything anew.
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');
const memory = () => {
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 2 ** 20;
};
const best = (times) => Math.min(...times);

const before = memory();
const starts = [];
const clusters = [];
for (let index = 0; index < MANY; index++) {
  const { ms, result } = await timed(() => Cluster.start({ seed: index }));
  starts.push(ms);
  clusters.push(result);
}
const megabytes = (memory() - before) / MANY;
const answered = await Promise.all(clusters.map((cluster) => cluster.get('node/node-1')));
await pause(IDLE_MS);
const used = process.cpuUsage();
await pause(IDLE_MS);
const idle = process.cpuUsage(used);
const idlePercent = ((idle.user + idle.system) / 1_000 / IDLE_MS) * 100;
for (const cluster of clusters.slice(10)) await cluster.stop();

const labels = { app: 'web' };
const template = { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'nginx' }] } };
const deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web' },
  spec: { replicas: 100, selector: { matchLabels: labels }, template },
};
const settled = [];
for (const cluster of clusters.slice(0, 10)) {
  const { ms } = await timed(async () => {
    await cluster.apply(deployment);
    await cluster.settle();
  });
  settled.push(ms);
  await cluster.stop();
}

const maps = first.client.of('ConfigMap').in('default');
for (let index = 0; index < OBJECTS; index++)
  await maps.create({ metadata: { name: `m${index}` }, data: { index: 'x' } });
const snapshots = [];
const forks = [];
for (let round = 0; round < 10; round++) {
  snapshots.push((await timed(() => first.snapshot())).ms);
  const { ms, result } = await timed(() => first.fork());
  forks.push(ms);
  await result.stop();
}
await first.stop();

const weekly = await Cluster.start({ seed: 2 });
for (let index = 0; index < CRON_JOBS; index++) {
  const pod = { restartPolicy: 'Never', containers: [{ name: 'c', image: 'busybox' }] };
  const spec = { schedule: `${index} 3 * * *`, jobTemplate: { spec: { template: { spec: pod } } } };
  await weekly.apply({ apiVersion: 'batch/v1', kind: 'CronJob', metadata: { name: `c${index}` }, spec });
}
const week = (await timed(() => weekly.advance('7d'))).ms;
await weekly.stop();

const figures = {
  ...{ firstMs, nextMs: best(starts), megabytes, together: answered.length, idlePercent },
  ...{ settledMs: best(settled), snapshotMs: best(snapshots), forkMs: best(forks), weekMs: week },
};
process.stdout.write(JSON.stringify(figures));
