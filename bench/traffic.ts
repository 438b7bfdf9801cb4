/**
 * Figures of traffic through Services to real pods: the delay until a pod is served, and the requests that a rolling
 * update loses.
 */
import { existsSync } from 'node:fs';
import { Agent as PlainAgent, request } from 'node:http';
import { Agent } from 'node:https';
import { setTimeout as pause } from 'node:timers/promises';
import { median } from './documents.ts';
import { latency } from './flood.ts';
import { get, mergePatch, post } from './http.ts';
import { generate, hasWrk } from './load.ts';
import { type NodeUnderTest, withNode, withoutProcesses } from './pods/cluster.ts';
import type { Figure } from './report.ts';

export interface TrafficFigures {
  /** The project's folder. */
  readonly root: string;
  /** Directory for the cluster, which is removed afterwards. */
  readonly directory: string;
  readonly wanted: (name: string) => boolean;
  readonly record: (figure: Figure) => void;
  readonly say: (text: string) => void;
}

const SERVED = 'from pod ready to traffic';
const LOST = 'requests lost in a rolling update';
const FLOODED = 'p99 of API gets beside a flood of the Ingress';
const MAX_SERVED_MS = 300;
const FLOOD_ROUNDS = 5;
const FLOOD_SECONDS = 2;
const FLOOD_CONNECTIONS = 200;
const STARTS = 5;
const REPLICAS = 10;
const REQUESTS_PER_SECOND = 500;
const TICK_MS = 10;
const REQUEST_TIMEOUT_MS = 20_000;
const UPDATE_TIMEOUT_MS = 120_000;
/** Interval between two looks at a deployment or an address. */
const LOOK_MS = 3;
const SERVICES = '/api/v1/namespaces/default/services';
const INGRESSES = '/apis/networking.k8s.io/v1/namespaces/default/ingresses';
const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments';

/**
 * Server that answers all accepted requests before it ends, as servers do. There is no `preStop`: nothing delays its
 * end.
 */
const SERVER = `
const server = require('http').createServer((_, response) => response.end('ok'));
server.listen(8080);
process.on('SIGTERM', () => server.close(() => process.exit()));
`;
const CONTAINER = {
  ...{ name: 'main', image: 'host', command: [process.execPath, '-e', SERVER] },
  readinessProbe: { tcpSocket: { port: 8080 }, periodSeconds: 1 },
};

export async function measureTraffic(figures: TrafficFigures): Promise<void> {
  const { root, directory, wanted, record, say } = figures;
  if (![SERVED, LOST, FLOODED].some(wanted)) return;
  const missing = withoutProcesses() ?? (existsSync('/usr/sbin/nft') ? undefined : 'nft is not installed');
  if (missing) return say(`traffic to pods is left out: ${missing}`);
  await withNode({ root, directory, runtime: 'process' }, async (node) => {
    const agent = new Agent({ keepAlive: true, rejectUnauthorized: false });
    try {
      if (wanted(SERVED)) record({ name: SERVED, unit: 'ms', qd: await served(node, agent), promise: MAX_SERVED_MS });
      if (wanted(LOST)) record({ name: LOST, unit: '', qd: await lost(node, agent, say), promise: 0 });
      if (wanted(FLOODED)) await flooded(node, agent, figures);
    } finally {
      agent.destroy();
    }
  });
}

/** The address of a new Service for pods with this label. */
async function serviceFor({ qd }: NodeUnderTest, name: string, agent: Agent): Promise<string> {
  const spec = { selector: { app: name }, ports: [{ port: 80, targetPort: 8080 }] };
  const made = await post(qd, SERVICES, JSON.stringify({ metadata: { name }, spec }), agent);
  return JSON.parse(made).spec.clusterIP;
}

/** Measures the time from the watch event that shows the pod as Ready until its Service answers. */
async function served(node: NodeUnderTest, agent: Agent): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < STARTS; round++) {
    const name = `ready-${round}`;
    const address = await serviceFor(node, name, agent);
    await node.api.run([name], CONTAINER, { app: name });
    const began = performance.now();
    while ((await ask(address)) !== undefined) await pause(LOOK_MS);
    times.push(performance.now() - began);
  }
  return median(times);
}

/** Measures the latency of the API, with the Ingress idle and with 200 connections to it, in turns. */
async function flooded(node: NodeUnderTest, agent: Agent, { root, record, say }: TrafficFigures): Promise<void> {
  if (!hasWrk) return say('the flood of the Ingress is left out: wrk is not installed');
  const { qd } = node;
  await serviceFor(node, 'flooded', agent);
  await node.api.run(['flooded'], CONTAINER, { app: 'flooded' });
  const spec = { defaultBackend: { service: { name: 'flooded', port: { number: 80 } } } };
  await post(qd, INGRESSES, JSON.stringify({ metadata: { name: 'flooded' }, spec }), agent);
  const address = await ingressAddress(node, agent);
  while ((await ask(address)) !== undefined) await pause(LOOK_MS);
  const path = `${SERVICES}/flooded`;
  const rounds = { quiet: [] as number[], loud: [] as number[], rate: [] as number[] };
  await latency(qd, path, FLOOD_SECONDS);
  for (let round = 0; round < FLOOD_ROUNDS; round++) {
    rounds.quiet.push(await latency(qd, path, FLOOD_SECONDS));
    const target = { origin: `http://${address}`, token: '' };
    const options = { connections: FLOOD_CONNECTIONS, seconds: FLOOD_SECONDS + 2, root };
    const flood = generate(target, { type: 'read', path: '/' }, options);
    // Its connections are opened first.
    await pause(1_000);
    rounds.loud.push(await latency(qd, path, FLOOD_SECONDS));
    rounds.rate.push((await flood).perSecond);
  }
  say(`without the flood ${median(rounds.quiet).toFixed(1)} ms; the flood has ${Math.round(median(rounds.rate))}/s`);
  record({ name: FLOODED, unit: 'ms', qd: median(rounds.loud) });
}

/** Returns host and port. The usual port may belong to another program. */
async function ingressAddress({ qd }: NodeUnderTest, agent: Agent): Promise<string> {
  for (;;) {
    const { status } = JSON.parse((await get(qd, `${INGRESSES}/flooded`, agent)).toString());
    const [found] = status?.loadBalancer?.ingress ?? [];
    const moved = found?.ports?.findIndex(({ port }: { port: number }) => port === 80) ?? -1;
    if (found) return `${found.ip}:${moved < 0 ? 80 : found.ports[moved + 1].port}`;
    await pause(LOOK_MS);
  }
}

/** Sends one request on a new connection. Resolves with undefined, or with the error. */
function ask(address: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const sent = request(`http://${address}/`, { agent: new PlainAgent(), timeout: REQUEST_TIMEOUT_MS }, (response) => {
      response
        .resume()
        .on('end', () => resolve(response.statusCode === 200 ? undefined : `status ${response.statusCode}`));
      response.on('error', (error) => resolve(error.message));
    });
    sent.on('timeout', () => sent.destroy(new Error('no answer in time')));
    sent.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message)).end();
  });
}

/** Requests at a fixed rate, while all pods of a deployment are replaced. */
async function lost(node: NodeUnderTest, agent: Agent, say: (text: string) => void): Promise<number> {
  const address = await serviceFor(node, 'rolling', agent);
  const labels = { app: 'rolling' };
  const template = { metadata: { labels }, spec: { containers: [CONTAINER] } };
  const spec = { replicas: REPLICAS, selector: { matchLabels: labels }, template };
  await post(node.qd, DEPLOYMENTS, JSON.stringify({ metadata: { name: 'rolling' }, spec }), agent);
  await rolledOut(node, agent, 1);
  while ((await ask(address)) !== undefined) await pause(LOOK_MS);
  let sent = 0;
  const failures = new Map<string, number>();
  const underWay = new Set<Promise<void>>();
  const began = performance.now();
  const timer = setInterval(() => {
    const due = ((performance.now() - began) / 1_000) * REQUESTS_PER_SECOND;
    for (; sent < due; sent++) {
      const asked: Promise<void> = ask(address).then((failure) => {
        if (failure !== undefined) failures.set(failure, (failures.get(failure) ?? 0) + 1);
        underWay.delete(asked);
      });
      underWay.add(asked);
    }
  }, TICK_MS);
  try {
    const changes = { spec: { template: { metadata: { annotations: { round: '2' } } } } };
    await mergePatch(node.qd, `${DEPLOYMENTS}/rolling`, JSON.stringify(changes), agent);
    await rolledOut(node, agent, 2);
  } finally {
    clearInterval(timer);
  }
  await Promise.all(underWay);
  const seconds = (performance.now() - began) / 1_000;
  say(`${sent} requests in ${seconds.toFixed(1)} s, while ${REPLICAS} pods were replaced`);
  for (const [failure, count] of failures) say(`${failure}: ${count}`);
  return [...failures.values()].reduce((sum, count) => sum + count, 0);
}

/** Resolves when all pods are those of this generation, and no others are left. */
async function rolledOut({ qd }: NodeUnderTest, agent: Agent, generation: number): Promise<void> {
  const deadline = performance.now() + UPDATE_TIMEOUT_MS;
  const pods = '/api/v1/namespaces/default/pods?labelSelector=app%3Drolling';
  for (;;) {
    const { status } = JSON.parse((await get(qd, `${DEPLOYMENTS}/rolling`, agent)).toString());
    const isDone =
      status.observedGeneration >= generation &&
      [status.replicas, status.updatedReplicas, status.availableReplicas].every((count) => count === REPLICAS);
    if (isDone && JSON.parse((await get(qd, pods, agent)).toString()).items.length === REPLICAS) return;
    if (performance.now() > deadline) throw new Error('the rolling update does not end');
    await pause(LOOK_MS * TICK_MS);
  }
}
