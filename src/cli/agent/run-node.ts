/** Runs one node with real pods: registers it, opens its runtime, and starts the agent. */
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { type Clock, sleep } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import type { Client } from '../../client/client.ts';
import type { DeepReadonly } from '../../client/object-types.ts';
import { Node } from '../../kinds/groups/core/node/node.ts';
import { GATEWAY_ANNOTATION } from '../../network/routes/routing-of.ts';
import { type Agent, startAgent } from '../../node/agent/agent.ts';
import { PullRecords } from '../../node/agent/images/pull-records.ts';
import type { NodeSettings } from '../../node/agent/node/node-object.ts';
import { NodeReporter } from '../../node/agent/node/node-reporter.ts';
import type { ApiServerAddress } from '../../node/agent/objects.ts';
import { volumesApi } from '../../node/agent/volumes-api.ts';
import { parseResolvConf } from '../../node/container/dns.ts';
import { findProgram } from '../../node/containerd/own/machine.ts';
import { PodStreams } from '../../node/endpoint/pod-streams.ts';
import { rotateLogs } from '../../node/logs/rotate.ts';
import { Housekeeping } from '../../node/machine/housekeeping.ts';
import type { NodeUsage } from '../../node/machine/stats/node-usage.ts';
import type { Runtime } from '../../node/runtime/runtime.ts';
import { openVolumes } from '../../node/volumes/open-volumes.ts';
import { machineResources, text, thisMachine } from './machine.ts';
import type { NodeNetwork } from './network-plan.ts';
import type { NodeConfig } from './node-config.ts';
import { type NodeFile, nodeDirectory, nodeId, readNodeFile, writeNodeFile } from './node-file.ts';
import { openEndpoint } from './open-endpoint.ts';
import { openRuntime, type RealRuntime } from './open-runtime.ts';

export interface RunNodeOptions {
  /** Acts as the node. */
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly name: string;
  readonly runtime: RealRuntime;
  readonly endpoint: string | undefined;
  /** The addresses of the node, which pods on its network have, too. */
  readonly addresses: readonly string[];
  /** The range of the pods' addresses; undefined: the one that the cluster gives to the node. */
  readonly podCIDR: string | undefined;
  readonly dataDirectory: string;
  readonly clusterDomain: string;
  readonly clusterDns: readonly string[];
  /** Where pods reach the API server when there are no rules for its Service. */
  readonly apiServer: ApiServerAddress;
  readonly config: NodeConfig;
  /** A network of its own; undefined: that of the machine. */
  readonly network?: OwnNetwork | undefined;
  /** The runtime is opened after this: it would take time from a cluster that starts in the same process. */
  readonly openAfter?: Promise<void>;
  /** The Kubernetes version to report: `v1.36.4`. */
  readonly version: string;
  readonly watchSeconds?: number;
  /** Makes Services work on the node, and returns what stops that. */
  readonly startServices?: (node: ServicesNode) => Promise<() => Promise<void>>;
  /** Removes the rules that a killed process left for the node. Undefined: rules stay when the node is stopped. */
  readonly removeRules?: (node: RulesOwner) => Promise<void>;
  /**
   * Certificates of the cluster's authorities, as PEM, for the endpoint that other processes reach the agent at. Undefined: only
   * this process reaches it.
   */
  readonly authority?: (() => string) | undefined;
}

/** What is known of a node that has run before. */
export interface RulesOwner {
  readonly name: string;
  /** Identifies the node on this machine. */
  readonly shortName: string;
  /** Path of its network namespace; undefined: that of the machine. */
  readonly networkNamespace: string | undefined;
}

/** What is known of the node when its runtime is open. */
export interface ServicesNode extends RulesOwner {
  readonly addresses: readonly string[];
  readonly podCIDRs: readonly string[];
}

export interface OwnNetwork extends NodeNetwork {
  /** The address of the machine, through which other machines reach it. */
  readonly gateway: string;
  /** Makes it, and the way to the node's pods. */
  open(podCIDR: string): Promise<void>;
}

export interface RunningNode {
  /** Logs, exec, attach and ports of its pods. */
  readonly streams: PodStreams;
  /** Opens a connection to the endpoint of its agent, which may do everything. */
  connect(): Duplex;
  /** Resolves when pods can run. Stays pending when the node is stopped before. */
  readonly ready: Promise<void>;
  /** Undefined until it was measured. */
  usage(): Promise<NodeUsage | undefined>;
  /** What runs goes on running. */
  stop(): Promise<void>;
}

const RETRY_MS = 2_000;

/**
 * Resolves when the node is registered; its runtime comes up after that. A node that has run before does not wait for the
 * server: what it ran is taken over, and its static pods run.
 */
export async function runNode(options: RunNodeOptions): Promise<RunningNode> {
  const { client, clock, random, log, name, version, config, network } = options;
  const stop = new AbortController();
  const directory = await nodeDirectory(options.dataDirectory, name);
  let runtime: Runtime | undefined;
  let agent: Agent | undefined;
  let housekeeping: Housekeeping | undefined;
  let keeping: Promise<void> | undefined;
  let stopServices: (() => Promise<void>) | undefined;
  const aborted = new Promise<never>((_, reject) => {
    stop.signal.addEventListener('abort', () => reject(stop.signal.reason), { once: true });
  });
  aborted.catch(() => undefined);
  const runtimeVersion = () => runtime?.version ?? `${options.runtime}://unknown`;
  const machine = thisMachine({ version, runtimeVersion, directory, clock, config });
  const endpoint = await openEndpoint({
    ...{ client, clock, random, log, name, directory, addresses: options.addresses, authority: options.authority },
    parts: {
      get agent() {
        return agent;
      },
      get runtime() {
        return runtime;
      },
      get housekeeping() {
        return housekeeping;
      },
    },
    config: kubeletConfiguration(options),
  });
  const settings: NodeSettings = {
    ...{ name, labels: config.labels, taints: config.taints, port: endpoint.port },
    addresses: [
      ...options.addresses.map((address) => ({ type: 'InternalIP' as const, address })),
      { type: 'Hostname', address: name },
    ],
    podCIDRs: options.podCIDR ? [options.podCIDR] : [],
    ...(network ? { annotations: { [GATEWAY_ANNOTATION]: network.gateway } } : {}),
  };
  const common = { client, clock, random, log };
  const before = await readNodeFile(directory);
  // A node that ran before goes on: reported as not ready, its pods would leave their services for a moment.
  let isExpectedReady = before !== undefined;
  const starting = {
    ...STARTING,
    health: async () => ({
      isReady: isExpectedReady,
      isNetworkReady: isExpectedReady,
      message: 'the runtime is starting',
    }),
  };
  const registration = new NodeReporter({
    ...{ ...common, settings, machine, signal: stop.signal, runtime: starting, emit: () => {} },
  });
  const node = await registration.register().catch(async (error: unknown) => {
    if (!before) {
      stop.abort(error);
      await endpoint.close();
      throw error;
    }
    log.warn('the server does not answer; the node goes on with what it knows', { error: String(error) });
    return undefined;
  });
  endpoint.serve();
  const open = async (ranges: readonly string[]) => {
    const file = {
      ...{ runtime: options.runtime, endpoint: options.endpoint, podCIDRs: ranges },
      ...{ name: nodeId(options.dataDirectory, name), networkNamespace: network?.namespace },
      ...{ streamAddress: network?.address, registries: config.registries },
    };
    await writeNodeFile(directory, file);
    const path = process.env.PATH ?? '';
    // An attempt that failed later has left one.
    await runtime?.close();
    await network?.open(ranges[0]!);
    const opened = await openRuntime({ ...common, ...file, directory, path });
    runtime = opened;
    const allocatable = () => agent?.allocatable() ?? {};
    const pullRecords = new PullRecords(join(directory, 'image_manager', 'pulled.json'));
    const volumes = openVolumes({
      ...{ clock, random, log, nodeName: name, allocatable, liveConfigVolumes: config.liveConfigVolumes },
      root: directory,
      api: volumesApi(client, { nodeName: name, images: () => opened.images, pullRecords, clock }),
      canMount: process.getuid?.() === 0,
    });
    await registration.stopped();
    stop.signal.throwIfAborted();
    agent = startAgent({
      ...{ ...common, runtime: opened, volumes, machine, settings },
      facts: {
        hostIPs: options.addresses,
        resources: await machineResources(),
        dns: {
          ...{ clusterDns: options.clusterDns, clusterDomain: options.clusterDomain },
          node: parseResolvConf(await text('/etc/resolv.conf')),
        },
        hosts: `${await text('/etc/hosts')}\n`,
      },
      logRoot: join(directory, 'logs'),
      seccompDirectory: join(directory, 'seccomp'),
      pullRecords,
      userAgent: `kube-probe/${version.replace(/^v(\d+\.\d+).*/, '$1')}`,
      staticPodDirectory: config.podManifestPath,
      apiServer: (await mayMakeRules(path)) ? undefined : options.apiServer,
      allowedUnsafeSysctls: config.allowedUnsafeSysctls,
      ...(options.watchSeconds ? { watchSeconds: options.watchSeconds } : {}),
    });
    const { pods, event } = agent;
    housekeeping = new Housekeeping({
      ...{ clock, log, machine, runtime: opened, signal: stop.signal, nodeName: name },
      pods: () => pods.running(),
      volumesOf: (uid) => volumes.usage(uid),
      rotateLogs: () => rotateLogs(opened, { now: clock.now(), log }),
      evict: (pod, message, isDisruption) => pods.evict(pod, message, isDisruption),
      warn: (reason, message) => event('Warning', reason, message),
    });
    keeping = housekeeping.run();
    stopServices ??= await options.startServices?.({
      ...{ name, shortName: file.name, addresses: options.addresses, podCIDRs: ranges },
      networkNamespace: options.network?.namespace,
    });
    await Promise.race([agent.registered, aborted]);
  };
  const rangesOf = async (registered: DeepReadonly<Node>) => {
    const isKnown = registered.spec.podCIDRs?.length;
    const { spec } = isKnown ? registered : await client.of(Node).get(name, { signal: stop.signal });
    return spec.podCIDRs ?? [];
  };
  const mayOpen = Promise.race([options.openAfter, aborted]).catch(() => undefined);
  const opening = until(stop.signal, options, async () => {
    await mayOpen;
    stop.signal.throwIfAborted();
    const ranges = node ? await rangesOf(node) : (before?.podCIDRs ?? []);
    if (ranges.length === 0) throw new Error('the node has no range of pod addresses yet');
    await open(ranges).catch((error: unknown) => {
      isExpectedReady = false;
      throw error;
    });
  });
  const ready = opening.then((isOpen) => (isOpen ? undefined : new Promise<never>(() => {})));
  return {
    streams: new PodStreams(endpoint.node),
    connect: () => endpoint.endpoint.connect(),
    ready,
    usage: async () => housekeeping?.usage(),
    async stop() {
      stop.abort(new Error('the node stops'));
      // What is being opened is closed below.
      await opening;
      if (stopServices) await stopServices();
      else if (before) await options.removeRules?.(rulesOwner(name, before));
      await endpoint.close();
      await keeping;
      await registration.stopped();
      await agent?.stop();
      await runtime?.close();
    },
  };
}

function rulesOwner(name: string, file: NodeFile): RulesOwner {
  return { name, shortName: file.name, networkNamespace: file.networkNamespace };
}

/** Tries until it succeeds. Resolves with whether it did; false: it was aborted before. */
async function until(signal: AbortSignal, { clock, log }: RunNodeOptions, work: () => Promise<void>): Promise<boolean> {
  while (!signal.aborted) {
    try {
      await work();
      return true;
    } catch (error) {
      if (signal.aborted) break;
      log.warn('the runtime cannot be used yet', { error: String(error) });
      await sleep(clock, RETRY_MS, signal).catch(() => undefined);
    }
  }
  return false;
}

/** Whether the addresses of Services can be reached: nftables leads to their endpoints. */
async function mayMakeRules(path: string): Promise<boolean> {
  return process.getuid?.() === 0 && (await findProgram('nft', path)) !== undefined;
}

const STARTING = {
  images: { list: async () => [] } as unknown as Runtime['images'],
  handlers: [],
  supplementalGroupsPolicy: undefined,
};

/** The settings of the agent as kubelet names them, for `/configz`. */
function kubeletConfiguration({ clusterDomain, clusterDns, config }: RunNodeOptions): object {
  return {
    ...{ kind: 'KubeletConfiguration', apiVersion: 'kubelet.config.k8s.io/v1beta1' },
    authentication: { x509: {}, webhook: { enabled: true }, anonymous: { enabled: false } },
    authorization: { mode: 'Webhook' },
    ...{ clusterDomain, clusterDNS: clusterDns, maxPods: config.maxPods },
    ...(config.podManifestPath === undefined ? {} : { staticPodPath: config.podManifestPath }),
    ...{ rotateCertificates: true, serverTLSBootstrap: true },
  };
}
