/**
 * Measures the built program beside the bare server (bare.ts), figure by figure, in one run of about nine minutes.
 *
 * --json       print the figures as JSON
 * --seconds N  how long each load lasts (default 5)
 * --only a,b   measure only figures whose names contain one of these words
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { storeArguments } from '../test/support/store/backends.ts';
import { measureBackups } from './backups.ts';
import { largePod, smallPod } from './bodies.ts';
import { measureCustomKinds } from './custom-kinds.ts';
import { measureDns } from './dns.ts';
import { latencyOf, measureFirstUse, median, TABLE } from './documents.ts';
import { measureExpressions } from './expressions.ts';
import { measureFederation } from './federation.ts';
import { measureFlood } from './flood.ts';
import { measureHistory } from './history.ts';
import { get, post } from './http.ts';
import { generate, hasWrk, type LoadResult, type Target, type Traffic } from './load.ts';
import { measureMachines } from './machines.ts';
import { costOfManagedFields } from './managed-fields.ts';
import { measureRollingUpdate, measureRollout } from './nodes.ts';
import { measurePast } from './past.ts';
import { measurePods } from './pods/figures.ts';
import { costOfPolicy } from './policies.ts';
import { cpuOf, memoryOf, type Program, startBare, startEtcd, startQd, tokenFile } from './programs.ts';
import { type Figure, table } from './report.ts';
import { costOfRights } from './rights.ts';
import { measureScheduler } from './scheduler.ts';
import { measureServices } from './services.ts';
import { measureTesting } from './testing/figures.ts';
import { measureTraffic } from './traffic.ts';
import { measureWatch } from './watchers.ts';

const { values: flags } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    seconds: { type: 'string', default: '5' },
    only: { type: 'string', default: '' },
  },
});
const root = process.cwd();
const seconds = Number(flags.seconds);
/** Seconds of load before it is measured. */
const WARM_UP = 3;
const work = mkdtempSync(join(tmpdir(), 'qd-bench-'));
process.once('exit', () => rmSync(work, { recursive: true, force: true }));
const agent = new Agent({ keepAlive: true, rejectUnauthorized: false, maxSockets: 32 });
const PODS = '/api/v1/namespaces/bench/pods';
const FILL = '/api/v1/namespaces/fill/pods';
const TEMPLATE = join(work, 'create.json');
const OTHERS = join(work, 'create-others.json');
/** Flags of an API server without components that drive objects, which figures of requests are compared with. */
const API_ALONE = ['--controllers', 'namespace,service-account,root-ca'];
const POLICY = 'what a policy of five expressions adds to a create';
const MANAGED_CREATE = 'what managedFields take of a create';
const MANAGED_PATCH = 'what managedFields take of a merge patch';
const figures: Figure[] = [];
const say = (text: string) => void (flags.json ? process.stderr : process.stdout).write(`${text}\n`);
/** Commas within names (`scheduler, anti-affinity`) and numbers separate nothing. */
const words = flags.only.split(/,(?! |\d{3})/);
const wanted = (name: string) => words.some((word) => name.includes(word));

function record(figure: Figure): void {
  figures.push(figure);
  say(table([figure]).split('\n')[1]!);
}

try {
  await main();
} finally {
  agent.destroy();
  rmSync(work, { recursive: true, force: true });
}

async function main(): Promise<void> {
  if (!hasWrk) say('wrk is not installed: load comes from this process, which lowers every rate');
  writeFileSync(join(work, 'tokens.csv'), tokenFile);
  writeFileSync(TEMPLATE, JSON.stringify(smallPod('@NAME@')));
  writeFileSync(OTHERS, JSON.stringify(smallPod('@NAME@', 'postgres://@NAME@-db.shop.svc:5432/shop')));
  const data = join(work, 'data');

  if (wanted('ready in a new directory')) {
    const times = await repeat(3, (round) => startQd(root, join(work, `new-${round}`)));
    record({ name: 'ready in a new directory', unit: 'ms', qd: median(times), promise: 1_000 });
  }
  await measureDocuments();
  let qd = await startQd(root, data);
  await seed(qd);
  await qd.stop();
  if (wanted('ready with 1,000 objects')) {
    const times = await repeat(5, () => startQd(root, data));
    record({ name: 'ready with 1,000 objects', unit: 'ms', qd: median(times), promise: 500 });
  }
  qd = await startQd(root, data, API_ALONE);
  const idle = ['memory at idle', 'processor at idle'].some(wanted) ? await measureIdle(qd) : undefined;
  // Measured before any other request for the objects.
  const shown = wanted('table of 1,000') ? await latencyOf(qd, PODS, TABLE) : undefined;
  const bare = await startBare(root, await bareOptions(qd, data));
  try {
    if (idle) {
      record({ name: 'memory at idle', unit: 'MB', qd: idle.memory, bare: memoryOf(bare.pid), promise: 120 });
      record({ name: 'processor at idle', unit: '%', qd: idle.processor, promise: 0.5 });
    }
    const peak = watchMemory(qd, bare);
    if (shown) {
      const peer = await latencyOf(bare, '/table');
      record({ name: 'first table of 1,000', unit: 'ms', qd: shown.first, bare: peer.first });
      record({ name: 'next tables of 1,000', unit: 'ms', qd: shown.next, bare: peer.next, promise: 15 });
      record({ name: 'table of 1,000', unit: 'ms', qd: shown.later, bare: peer.later, promise: 15 });
    }
    await measureReads(qd, bare);
    await measureOpenApi(qd, bare);
    await measurePatch(qd, bare);
    await measureWatchers(qd, bare);
    await measureCreate(qd, bare);
    const [most, bareMost] = peak();
    if (wanted('memory under load')) record({ name: 'memory under load', unit: 'MB', qd: most, bare: bareMost });
  } finally {
    await Promise.all([qd.stop(), bare.stop()]);
  }
  await measurePast({ root, directory: join(work, 'past'), flags: API_ALONE, wanted, record });
  await measureManagedFields();
  await measureHistory({
    ...{ root, seconds, seed, directory: work, flags: API_ALONE, wanted, record },
    create: { type: 'create', path: FILL, template: OTHERS, run: 'history' },
  });
  await measureRights();
  await measureFloods();
  await measureEtcd();
  await measureNodes();
  await measurePods({ root, directory: join(work, 'pods'), wanted, record, say });
  await measureServices({ root, wanted, record, say });
  await measureFederation({ root, directory: join(work, 'federation'), wanted, record, say });
  await measureTraffic({ root, directory: join(work, 'traffic'), wanted, record, say });
  await measureMachines({
    ...{ root, seconds, wanted, record, say },
    directory: join(work, 'machines'),
    template: TEMPLATE,
  });
  await measureDns({ root, directory: join(work, 'dns'), seconds, wanted, record, say });
  if (wanted(POLICY)) record({ name: POLICY, unit: 'µs', qd: await costOfPolicy(), promise: 30 });
  await measureSchedulers();
  measureExpressions({ wanted, record });
  await measureTesting({ root, wanted, record });
  await measureBackups({ root, directory: work, wanted, record });
  await measureCustomKinds({ root, directory: work, agent, wanted, record });
  say(flags.json ? '' : `\n${table(figures)}`);
  if (flags.json) process.stdout.write(`${JSON.stringify(figures, undefined, 2)}\n`);
}

async function repeat(times: number, start: (round: number) => Promise<Program>): Promise<number[]> {
  const found: number[] = [];
  for (let round = 0; round < times; round++) {
    const program = await start(round);
    found.push(program.readyAfter);
    await program.stop();
  }
  return found;
}

/** Creates 1,000 pods in the namespace `bench`, and an empty namespace `fill` for creates. */
async function seed(target: Target): Promise<void> {
  for (const name of ['bench', 'fill']) {
    await post(target, '/api/v1/namespaces', JSON.stringify({ metadata: { name } }), agent);
  }
  const pods = Array.from({ length: 1_000 }, (_, index) => JSON.stringify(largePod(index)));
  await Promise.all(pods.map((pod) => post(target, PODS, pod, agent)));
}

/** Lets the bare server send the same answers as the real one. */
async function bareOptions(qd: Target, data: string) {
  const folder = join(work, 'bodies');
  mkdirSync(folder);
  const keep = async (name: string, body: Promise<Buffer>) => {
    const file = join(folder, name);
    writeFileSync(file, await body);
    return file;
  };
  const pod = await get(qd, `${PODS}/pod-7`, agent);
  say(`a pod as served has ${pod.length} bytes, a pod as created ${JSON.stringify(smallPod('some-pod-1')).length}`);
  return {
    directory: join(work, 'bare'),
    certificate: join(data, 'pki', 'apiserver.crt'),
    key: join(data, 'pki', 'apiserver.key'),
    bodies: {
      get: await keep('get', Promise.resolve(pod)),
      list: await keep('list', get(qd, PODS, agent)),
      label: await keep('label', get(qd, `${PODS}?labelSelector=group%3D3`, agent)),
      table: await keep('table', get(qd, PODS, agent, TABLE)),
      openapi: await keep('openapi', get(qd, '/openapi/v2', agent)),
      event: await keep('event', event(qd)),
    },
  };
}

async function event(qd: Target): Promise<Buffer> {
  await post(qd, FILL, JSON.stringify(smallPod('event')), agent);
  const object = await get(qd, `${FILL}/event`, agent);
  return Buffer.concat([Buffer.from('{"type":"ADDED","object":'), object, Buffer.from('}\n')]);
}

/**
 * Measures a server at rest: the median of several stretches. Once after its last work V8 tidies up each thread's heap,
 * which takes it about 300 ms of processor time with 1,000 nodes. It usually does so after ten seconds; but it looks
 * every eight seconds whether little is going on, and with nodes that renew their leases it may find so after half a
 * minute or a whole one.
 */
async function measureIdle(qd: Program): Promise<{ memory: number; processor: number }> {
  await pause(25_000);
  const seconds = 6;
  const found: number[] = [];
  for (let stretch = 0; stretch < 5; stretch++) {
    const before = cpuOf(qd.pid);
    await pause(seconds * 1_000);
    found.push(((cpuOf(qd.pid) - before) / seconds) * 100);
  }
  return { memory: memoryOf(qd.pid), processor: median(found) };
}

async function measureReads(qd: Program, bare: Program): Promise<void> {
  const label = `${PODS}?labelSelector=group%3D3`;
  await compare('get', 8_000, 32, [qd, read(`${PODS}/pod-7`)], [bare, read('/get')]);
  await compare('list of 1,000', 150, 8, [qd, read(PODS)], [bare, read('/list')]);
  await measureProtobuf(qd);
  await compare('list of 100 by label', 1_200, 8, [qd, read(label)], [bare, read('/label')]);
}

/** Lists in protobuf beside the same lists in JSON: of objects that stay the same, and while one changes all the time. */
async function measureProtobuf(qd: Program): Promise<void> {
  const inProtobuf: Traffic = { type: 'read', path: PODS, header: ['Accept', 'application/vnd.kubernetes.protobuf'] };
  const figure = async (name: string) => {
    if (!wanted(name)) return;
    const json = await warmed([qd, read(PODS)], 8);
    const { perSecond, failed } = await warmed([qd, inProtobuf], 8);
    if (failed > 0) throw new Error(`${failed} requests of "${name}" failed`);
    record({ name, unit: '/s', qd: perSecond, bare: json.perSecond, promise: json.perSecond });
  };
  await figure('list of 1,000 in protobuf');
  const writes = new AbortController();
  const writing = (async () => {
    const patches: Traffic = { type: 'patch', path: `${PODS}/pod-`, objects: 1_000 };
    while (!writes.signal.aborted) await generate(qd, patches, { connections: 1, seconds: 1, root });
  })();
  await figure('list of 1,000 in protobuf, changing').finally(() => writes.abort());
  await writing;
}

/** Measures the waiting time of the first client of new servers. */
async function measureDocuments(): Promise<void> {
  if (!['first discovery', 'first OpenAPI 2'].some(wanted)) return;
  const { discovery, walk, openApi } = await measureFirstUse((round) => startQd(root, join(work, `first-${round}`)), 3);
  record({ name: 'first discovery', unit: 'ms', qd: discovery.first, promise: 5 });
  record({ name: 'discovery', unit: 'ms', qd: discovery.again, promise: 5 });
  record({ name: 'first discovery, path by path', unit: 'ms', qd: walk.first });
  record({ name: 'discovery, path by path', unit: 'ms', qd: walk.again });
  record({ name: 'first OpenAPI 2', unit: 'ms', qd: openApi.first, promise: 300 });
}

/** Measures the document from the cache, and for a client that has it already. */
async function measureOpenApi(qd: Program, bare: Program): Promise<void> {
  await compare('OpenAPI 2', undefined, 8, [qd, read('/openapi/v2')], [bare, read('/openapi')]);
  const known: Traffic = { type: 'read', path: '/openapi/v2', header: ['If-None-Match', '*'] };
  await compare('OpenAPI 2, unchanged', undefined, 32, [qd, known], [bare, read('/unchanged')]);
}

async function measurePatch(qd: Program, bare: Program): Promise<void> {
  const onQd: Traffic = { type: 'patch', path: `${PODS}/pod-`, objects: 1_000 };
  const results = await compare('merge patch', 2_500, 32, [qd, onQd], [bare, { ...onQd, path: '/patch/pod-' }]);
  if (results) record(p99('merge patch', results));
}

async function measureCreate(qd: Program, bare: Program): Promise<void> {
  const onQd: Traffic = { type: 'create', path: FILL, template: OTHERS, run: 'others' };
  const figure = 'create, no two alike';
  const results = await compare(figure, 3_000, 32, [qd, onQd], [bare, { ...onQd, path: '/create' }]);
  if (results) record(p99(figure, results));
  // Creates pods like a controller: pods of one template share their spec.
  if (!wanted('create, one template')) return;
  const alike = await warmed([qd, { ...onQd, template: TEMPLATE, run: 'alike' }], 32);
  record({ name: 'create, one template', unit: '/s', qd: alike.perSecond });
}

async function measureWatchers(qd: Program, bare: Program): Promise<void> {
  if (!wanted('watch')) return;
  const shape = { watchers: 200, creates: 300 };
  const body = (index: number) => JSON.stringify(smallPod(`watched-${index}`));
  const peer = await measureWatch(bare, { ...shape, watchPath: '/watch', createPath: '/emit', body });
  const { metadata } = JSON.parse((await get(qd, `${FILL}?limit=1`, agent)).toString());
  const watchPath = `${FILL}?watch=true&resourceVersion=${metadata.resourceVersion}`;
  const ours = await measureWatch(qd, { ...shape, watchPath, createPath: FILL, body });
  record({ name: 'watch, 200 on 300 creates', unit: '/s', qd: ours, bare: peer, promise: 60_000 });
}

async function measureManagedFields(): Promise<void> {
  if (![MANAGED_CREATE, MANAGED_PATCH].some(wanted)) return;
  const cost = await costOfManagedFields({
    ...{ root, seconds, seed, directory: work, flags: API_ALONE },
    create: { type: 'create', path: FILL, template: OTHERS, run: 'managed' },
    patch: { type: 'patch', path: `${PODS}/pod-`, objects: 1_000 },
  });
  record({ name: MANAGED_CREATE, unit: '%', qd: cost.create, promise: 15 });
  record({ name: MANAGED_PATCH, unit: '%', qd: cost.patch, promise: 15 });
}

async function measureRights(): Promise<void> {
  if (!wanted('rights')) return;
  // Members of system:masters are exempt from flows; without those, both are served alike.
  const qd = await startQd(root, join(work, 'rights'), ['--enable-priority-and-fairness=false']);
  try {
    const more = await costOfRights(qd, { connections: 32, seconds, root, agent });
    record({ name: 'what a token and rights add to a get', unit: '%', qd: more, promise: 5 });
  } finally {
    await qd.stop();
  }
}

async function measureFloods(): Promise<void> {
  if (!wanted('flood')) return;
  const qd = await startQd(root, join(work, 'flood'));
  try {
    const { quiet, loud, perSecond } = await measureFlood(qd, root, agent);
    record({ name: "p99 of one client beside another's flood", unit: 'ms', qd: loud, promise: 2 * quiet });
    record({ name: 'gets by the flood', unit: '/s', qd: perSecond });
  } finally {
    await qd.stop();
  }
}

async function measureEtcd(): Promise<void> {
  if (!wanted('create on etcd')) return;
  const etcd = await startEtcd(join(work, 'etcd'));
  if (!etcd) return say('etcd is not installed: no figure for it');
  try {
    const qd = await startQd(root, join(work, 'on-etcd'), [
      ...storeArguments('etcd', { etcdServers: [etcd.url] }),
      ...API_ALONE,
    ]);
    try {
      await post(qd, '/api/v1/namespaces', '{"metadata":{"name":"fill"}}', agent);
      const traffic: Traffic = { type: 'create', path: FILL, template: TEMPLATE, run: 'load' };
      const result = await warmed([qd, traffic], 32);
      record({ name: 'create on etcd', unit: '/s', qd: result.perSecond, promise: 1_500 });
      record({ name: 'create on etcd, p99', unit: 'ms', qd: result.p99 });
    } finally {
      await qd.stop();
    }
  } finally {
    await etcd.stop();
  }
}

/** Measures clusters of simulated nodes until all their pods are ready. */
async function measureNodes(): Promise<void> {
  await withNodes(100, {
    '1,000 pods ready on 100 nodes': async (qd, name) => {
      const took = await measureRollout(qd, { deployments: 20, replicas: 50 }, agent);
      record({ name, unit: 'ms', qd: took, promise: 4_000 });
      record({ name: 'memory with 100 nodes, 1,000 pods', unit: 'MB', qd: memoryOf(qd.pid), promise: 250 });
    },
    'rolling update of 200 pods, 100 nodes': async (qd, name) => {
      const took = await measureRollingUpdate(qd, 200, agent);
      record({ name, unit: 'ms', qd: took, promise: 5_000 });
    },
  });
  await withNodes(1_000, {
    'processor at idle, 1,000 nodes': async (qd, name) => {
      const { processor } = await measureIdle(qd);
      record({ name, unit: '%', qd: processor, promise: 1 });
    },
  });
  await withNodes(5_000, {
    '5,000 nodes registered': async (qd, name) => {
      record({ name, unit: 'ms', qd: qd.readyAfter, promise: 10_000 });
    },
    '10,000 pods ready on 5,000 nodes': async (qd, name) => {
      const took = await measureRollout(qd, { deployments: 20, replicas: 500 }, agent);
      record({ name, unit: 'ms', qd: took, promise: 30_000 });
    },
  });
}

/** Runs the wanted figures one after the other in the same cluster. */
async function withNodes(
  count: number,
  measures: Readonly<Record<string, (qd: Program, name: string) => Promise<void>>>,
): Promise<void> {
  const asked = Object.entries(measures).filter(([name]) => wanted(name));
  if (asked.length === 0) return;
  const flags = ['--runtime', 'simulated', '--nodes', String(count)];
  const qd = await startQd(root, join(work, `nodes-${count}`), flags);
  try {
    for (const [name, measure] of asked) await measure(qd, name);
  } finally {
    await qd.stop();
  }
}

/** Runs schedulers in this process while nothing else runs. */
async function measureSchedulers(): Promise<void> {
  const sorts = [
    { name: 'scheduler', sort: 'plain', pods: 10_000, promise: 2_000 },
    { name: 'scheduler, anti-affinity', sort: 'anti-affinity', pods: 3_000, promise: 300 },
  ] as const;
  for (const { name, sort, pods, promise } of sorts) {
    if (!wanted(name)) continue;
    const { bound, decisions } = await measureScheduler(sort, pods, join(work, name));
    record({ name, unit: '/s', qd: bound, promise });
    record({ name: `${name}, decisions alone`, unit: '/s', qd: decisions });
  }
}

function read(path: string): Traffic {
  return { type: 'read', path };
}

type Run = readonly [program: Program, traffic: Traffic];

/** Measures a server after a warm-up: V8 compiles the code that runs often enough. */
async function warmed([program, traffic]: Run, connections: number): Promise<LoadResult> {
  const before = traffic.type === 'create' ? { ...traffic, run: `${traffic.run}-before` } : traffic;
  await generate(program, before, { connections, seconds: WARM_UP, root });
  return generate(program, traffic, { connections, seconds, root });
}

/** The bare server first, then ours, under the same load. */
async function compare(
  name: string,
  promise: number | undefined,
  connections: number,
  ours: Run,
  peers: Run,
): Promise<{ qd: LoadResult; bare: LoadResult } | undefined> {
  if (!wanted(name)) return undefined;
  const bare = await warmed(peers, connections);
  const qd = await warmed(ours, connections);
  if (qd.failed > 0) throw new Error(`${qd.failed} requests of "${name}" failed`);
  record({ name, unit: '/s', qd: qd.perSecond, bare: bare.perSecond, promise });
  return { qd, bare };
}

function p99(name: string, { qd, bare }: { qd: LoadResult; bare: LoadResult }): Figure {
  return { name: `${name}, p99`, unit: 'ms', qd: qd.p99, bare: bare.p99, promise: 30 };
}

/** Samples both programs' memory until it is asked for the most that was seen. */
function watchMemory(qd: Program, bare: Program): () => [number, number] {
  const most: [number, number] = [0, 0];
  const sample = () => {
    most[0] = Math.max(most[0], memoryOf(qd.pid));
    most[1] = Math.max(most[1], memoryOf(bare.pid));
  };
  const timer = setInterval(sample, 200);
  return () => {
    clearInterval(timer);
    sample();
    return most;
  };
}
