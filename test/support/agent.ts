/** The agent of a node on a server in this process, with a runtime in memory and a clock that stands still. */
import { readFile } from 'node:fs/promises';
import { ApiError } from '../../src/api/errors.ts';
import type { User } from '../../src/api/user.ts';
import { type LogFields, silent } from '../../src/base/log.ts';
import { systemRandom } from '../../src/base/random.ts';
import { STRICT_GUARD } from '../../src/base/sockets/dial/dial-guard.ts';
import { ControlledClock } from '../../src/base/time/clock.ts';
import { type Client, createClient } from '../../src/client/client.ts';
import { nodeUser } from '../../src/client/component-users.ts';
import { directTransport } from '../../src/client/transport/direct-transport.ts';
import { allKinds } from '../../src/kinds/all.ts';
import { Event } from '../../src/kinds/groups/core/event/event.ts';
import { Pod } from '../../src/kinds/groups/core/pod/pod.ts';
import { type Agent, type AgentOptions, startAgent } from '../../src/node/agent/agent.ts';
import { PullRecords } from '../../src/node/agent/images/pull-records.ts';
import type { Volumes } from '../../src/node/volumes/volumes.ts';
import { createServer } from '../../src/server/index.ts';
import { namespaceLifecycle } from '../../src/server/operations/admission/plugins/namespace-lifecycle/namespace-lifecycle.ts';
import { nodeRestriction } from '../../src/server/operations/admission/plugins/node-restriction/restriction.ts';
import { MemoryStore } from '../../src/store/memory/memory-store.ts';
import { FakeRuntime } from './fake-runtime.ts';

const ADMIN = { name: 'admin', groups: ['system:masters'] };
const NODE = 'n1';

export interface AgentCluster {
  readonly client: Client;
  /** Acts as the node. */
  readonly nodeClient: Client;
  readonly clock: ControlledClock;
  readonly runtime: FakeRuntime;
  readonly volumes: FakeVolumes;
  readonly complaints: LogFields[];
  readonly agent: Agent;
  /** Requests of the agent to the server: `patch pods/status`. */
  readonly calls: string[];
  readonly api: ApiConnection;
  /** Stops the agent, and starts it anew. Pods keep running. */
  restart(between?: () => Promise<void>): Promise<void>;
  run(name: string, fields?: { spec?: object; metadata?: object }): Promise<void>;
  delete(name: string, options?: object): Promise<void>;
  pod(name: string): Promise<any>;
  /** Moves time on, in small steps until the condition holds. Undefined: the pod is gone. */
  until(name: string, condition: (pod: any) => boolean): Promise<any>;
  /** Reasons and messages of all events about the pod, in order. */
  events(name: string): Promise<string[]>;
  stop(): Promise<void>;
}

interface ApiConnection {
  /** While it is down, the agent gets no answer from the server; the test does. */
  isDown: boolean;
  /** Called with each request of the agent, such as `patch pods/status`, before the server gets it. */
  beforeCall?: ((name: string) => Promise<void>) | undefined;
  /** Called when the server has performed a request, before the agent gets the answer. */
  beforeAnswer?: ((name: string) => Promise<void>) | undefined;
}

/** Volumes that are nothing but remembered. */
class FakeVolumes implements Volumes {
  readonly prepared = new Set<string>();
  readonly released: string[] = [];
  broken: Error | undefined;
  left: string[] = [];
  file = '/nowhere';

  async prepare({ metadata: { uid = '' } }: { readonly metadata: { readonly uid?: string } }) {
    if (this.broken) throw this.broken;
    this.prepared.add(uid);
    return new Map();
  }
  mounts = async () => ({ mounts: [], devices: [] });
  readFile = async () => undefined;
  terminationMessageFile = () => this.file;
  async release(uid: string) {
    this.prepared.delete(uid);
    this.released.push(uid);
  }
  idMappings = async () => undefined;
  leftovers = async () => this.left;
  /** Labels of the pods whose volumes were refreshed. */
  readonly refreshed: unknown[] = [];
  async refresh({ metadata: { labels } }: { readonly metadata: { readonly labels?: object } }) {
    this.refreshed.push(labels);
    return { nextAt: undefined };
  }
  usage = async () => ({ volumes: new Map(), shared: 0, containers: new Map() });
  driverStats = async () => [];
  close = async () => {};
  followDrivers = async () => {};
}

export async function agentCluster(options: Partial<AgentOptions> = {}): Promise<AgentCluster> {
  const clock = new ControlledClock();
  const store = new MemoryStore({ clock });
  const server = await createServer({
    ...{ store, kinds: allKinds, clock, freeze: true, admission: [namespaceLifecycle, nodeRestriction] },
    ...{ authorization: ['Node', 'RBAC'], defaultRoles: true },
  });
  const clientFor = (user: User) => createClient(directTransport(server.direct(user)));
  const client = clientFor(ADMIN);
  const api: ApiConnection = { isDown: false };
  const calls: string[] = [];
  const nodeClient = () => {
    const handle = server.direct(nodeUser(NODE));
    return createClient(
      directTransport(async (call) => {
        const name = `${call.verb} ${call.plural}${call.subresource ? `/${call.subresource}` : ''}`;
        calls.push(name);
        if (api.isDown) throw new ApiError('ServiceUnavailable', 'the server does not answer');
        await api.beforeCall?.(name);
        const answer = await handle(call);
        await api.beforeAnswer?.(name);
        return answer;
      }),
    );
  };
  const runtime = new FakeRuntime(clock);
  const volumes = new FakeVolumes();
  const complaints: LogFields[] = [];
  const complain = (message: string, fields: LogFields = {}) => void complaints.push({ message, ...fields });
  const log = { ...silent, with: () => log, warn: complain, error: complain };
  const resources = { cpu: '4', memory: '8Gi', pods: '110' };
  const start = async (): Promise<Agent> => {
    const started = startAgent({
      ...{ client: nodeClient(), clock, random: systemRandom, log, runtime, volumes, dialGuard: STRICT_GUARD },
      machine: {
        describe: async () => ({ capacity: resources, allocatable: resources, nodeInfo: NODE_INFO }),
        pressures: () => [],
      },
      settings: {
        ...{ name: NODE, addresses: [{ type: 'InternalIP', address: '192.0.2.1' }], labels: {}, taints: [] },
        ...{ podCIDRs: [], port: undefined },
      },
      facts: {
        hostIPs: ['192.0.2.1'],
        resources: { memoryBytes: 2 ** 33, cgroupVersion: 1, hugePageSizes: [] },
        podPidsLimit: undefined,
        dns: { clusterDns: ['10.96.0.10'], clusterDomain: 'cluster.local', node: NO_DNS },
        hosts: '',
      },
      ...{
        logRoot: '/nowhere/logs',
        seccompDirectory: '/nowhere/seccomp',
        pullRecords: new PullRecords(undefined),
        userAgent: 'kube-probe/1.36',
      },
      ...options,
    });
    if (!api.isDown) await started.registered;
    return started;
  };
  let agent = await start();
  const pods = client.of(Pod).in('default');
  const cluster: AgentCluster = {
    ...{ client, nodeClient: nodeClient(), clock, runtime, volumes, complaints, api, calls },
    get agent() {
      return agent;
    },
    async restart(between) {
      await agent.stop();
      await between?.();
      agent = await start();
    },
    async run(name, { spec = {}, metadata = {} } = {}) {
      const containers = [{ name: 'c', image: 'nginx:1' }];
      await pods.create({
        metadata: { name, namespace: 'default', ...metadata },
        spec: { nodeName: NODE, containers, ...spec },
      } as any);
    },
    delete: (name, given = {}) => pods.delete(name, given),
    pod: (name) => pods.get(name),
    async until(name, condition) {
      let last: any;
      for (let tries = 0; tries < 4_000; tries++) {
        last = await pods.get(name).catch(() => undefined);
        if (condition(last)) return last;
        // The agent reads termination messages in real time: reads that it has begun end before this one does.
        await readFile(volumes.file).catch(() => undefined);
        await clock.advance(tries < 200 ? 20 : 1_000);
      }
      throw new Error(`it did not happen: ${JSON.stringify(last?.status, undefined, 1)}`);
    },
    async events(name) {
      await clock.advance(100);
      const { items } = await client.of(Event).in('default').list();
      return items
        .filter(({ involvedObject }) => involvedObject.name === name)
        .map(({ reason, message }) => `${reason}: ${message}`);
    },
    async stop() {
      await agent.stop();
      server.close();
      await store.close();
    },
  };
  return cluster;
}

const NO_DNS = { servers: [], searches: [], options: [] };
const NODE_INFO = {
  ...{ machineID: 'm', systemUUID: 's', bootID: 'b', kernelVersion: '6', osImage: 'Linux', kubeProxyVersion: '' },
  ...{
    containerRuntimeVersion: 'fake://1.0',
    kubeletVersion: 'v1.36.4',
    operatingSystem: 'linux',
    architecture: 'amd64',
  },
};
