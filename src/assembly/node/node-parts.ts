/** Parts that run pods on a node: its runtime, the agent that drives it, housekeeping, and the rules of Services. */
import { join } from 'node:path';
import { rejectsOn } from '../../base/event-loop/rejects-on.ts';
import { PRIVATE_DIRECTORY } from '../../base/files/own/modes.ts';
import { makeDirectory } from '../../base/files/own/own-files.ts';
import type { DialGuard } from '../../base/sockets/dial/dial-guard.ts';
import { type Agent, startAgent } from '../../node/agent/agent.ts';
import { PullRecords } from '../../node/agent/images/pull-records.ts';
import type { NodeSettings } from '../../node/agent/node/node-object.ts';
import { volumesApi } from '../../node/agent/volumes-api.ts';
import { parseResolvConf } from '../../node/container/names/dns.ts';
import { podLogDirectory } from '../../node/container/sandbox.ts';
import { logBytes } from '../../node/logs/log-bytes.ts';
import { rotateLogs } from '../../node/logs/rotate.ts';
import { Housekeeping } from '../../node/machine/housekeeping.ts';
import type { LocalMachine } from '../../node/machine/local-machine.ts';
import type { Runtime } from '../../node/runtime/runtime.ts';
import type { SandboxConfig } from '../../node/runtime/sandbox-config.ts';
import { openVolumes } from '../../node/volumes/open-volumes.ts';
import type { PodUsage } from '../../node/volumes/volumes.ts';
import { machineGuard } from '../machine-guard.ts';
import { machineResources, text } from './machine.ts';
import { mayMakeRules } from './may-make-rules.ts';
import { portsInUse } from './network/ports-in-use.ts';
import { type NodeFile, nodeId, writeNodeFile } from './node-file.ts';
import { openRuntime } from './open-runtime.ts';
import type { NodeOptions, RunningServices } from './options.ts';

const LOGS = 'logs';

interface OpenOptions {
  readonly machine: LocalMachine;
  /** Called when the network of the node is there. */
  readonly settings: () => Promise<NodeSettings>;
  /** Resolves when nothing else reports the node any more: from then on, its agent does. */
  readonly handedOver: () => Promise<void>;
}

/** The parts appear one after the other while the node is opened. */
export class NodeParts {
  runtime: Runtime | undefined;
  agent: Agent | undefined;
  housekeeping: Housekeeping | undefined;
  readonly #guard: DialGuard;
  #keeping: Promise<void> | undefined;
  #services: RunningServices | undefined;
  #volumes: Volumes | undefined;
  #markServices: (running: RunningServices) => void = () => {};
  readonly #servicesStarted = new Promise<RunningServices>((resolve) => {
    this.#markServices = resolve;
  });

  /** `directory` is where the node has its files. Opening ends when the signal is aborted. */
  constructor(
    private readonly options: NodeOptions,
    private readonly directory: string,
    private readonly signal: AbortSignal,
  ) {
    const { allowedDialRanges } = options.config;
    const ownHosts = [...options.addresses, options.apiServer.host];
    this.#guard = machineGuard({ allowedDialRanges, ownHosts });
  }

  /** Resolves when pods can run. May be called again after a failure. */
  async open(podCIDRs: readonly string[], options: OpenOptions): Promise<void> {
    const file = this.#fileOf(podCIDRs);
    await writeNodeFile(this.directory, file);
    const runtime = await this.#openRuntime(file);
    const pullRecords = new PullRecords(join(this.directory, 'image_manager', 'pulled.json'));
    const volumes = this.#openVolumes(runtime, pullRecords);
    this.#volumes = volumes;
    await options.handedOver();
    this.signal.throwIfAborted();
    const agent = await this.#startAgent({ ...options, runtime, volumes, pullRecords });
    this.#startHousekeeping({ machine: options.machine, runtime, volumes, agent });
    await this.#startServices(file);
    await Promise.race([agent.registered, rejectsOn(this.signal)]);
  }

  /** `before` is the file of an earlier run: a node that was not opened removes the rules that it left. */
  async stopServices(before: NodeFile | undefined): Promise<void> {
    const { name, removeRules } = this.options;
    if (this.#services) await this.#services.stop();
    else if (before) await removeRules?.({ ...ownerOf(before), name });
  }

  /** Stops the agent and closes the runtime. What runs goes on running. */
  async close(): Promise<void> {
    await this.#keeping;
    await this.agent?.stop();
    await this.#volumes?.close();
    await this.runtime?.close();
  }

  #fileOf(podCIDRs: readonly string[]): NodeFile {
    const { runtime, endpoint, dataDirectory, name, network, config } = this.options;
    return {
      runtime,
      endpoint,
      podCIDRs,
      name: nodeId(dataDirectory, name),
      registries: config.registries,
      networkNamespace: network?.namespace,
      streamAddress: network?.address,
    };
  }

  async #openRuntime(file: NodeFile): Promise<Runtime> {
    const { network, config } = this.options;
    // An attempt that failed later has left one.
    await this.runtime?.close();
    await network?.open(file.podCIDRs[0]!);
    const { allowsHostImage } = config;
    const dialGuard = this.#guard;
    this.runtime = await openRuntime({
      ...this.options,
      ...file,
      directory: this.directory,
      dialGuard,
      allowsHostImage,
      hostName: network && this.options.name,
    });
    return this.runtime;
  }

  #openVolumes(runtime: Runtime, pullRecords: PullRecords) {
    const { client, clock, random, log, name: nodeName, config, volumesDirectory } = this.options;
    return openVolumes({
      volumesDirectory,
      clock,
      random,
      log,
      nodeName,
      liveConfigVolumes: config.liveConfigVolumes,
      root: this.directory,
      allocatable: () => this.agent?.allocatable() ?? {},
      api: volumesApi(client, {
        nodeName,
        images: () => runtime.images,
        pullRecords,
        clock,
        emit: (pod, event) => this.agent?.podEvent(pod, event),
      }),
      canMount: process.getuid?.() === 0,
      userNamespaceOf: runtime.userNamespaceOf,
    });
  }

  async #startAgent(parts: OpenOptions & OpenedParts): Promise<Agent> {
    const { client, clock, random, log, version, config, addresses, apiServer, watchSeconds } = this.options;
    const { clusterDns, clusterDomain, path, startServices } = this.options;
    const settings = await parts.settings();
    const resolvConf = parseResolvConf(await text('/etc/resolv.conf'));
    await makeDirectory(join(this.directory, LOGS), PRIVATE_DIRECTORY);
    this.agent = startAgent({
      ...parts,
      client,
      clock,
      random,
      log,
      settings,
      facts: {
        hostIPs: addresses,
        resources: await machineResources(),
        podPidsLimit: config.podPidsLimit,
        dns: {
          get clusterDns() {
            return clusterDns();
          },
          clusterDomain,
          node: resolvConf,
        },
        hosts: `${await text('/etc/hosts')}\n`,
      },
      logRoot: join(this.directory, LOGS),
      seccompDirectory: join(this.directory, 'seccomp'),
      dialGuard: this.#guard,
      userAgent: `kube-probe/${version.replace(/^v(\d+\.\d+).*/, '$1')}`,
      portsInUse: (wanted) =>
        portsInUse(wanted, {
          dataDirectory: this.options.dataDirectory,
          shortName: nodeId(this.options.dataDirectory, this.options.name),
          networkNamespace: this.options.network?.namespace,
          path,
          known: ownPorts(settings, apiServer, addresses),
        }),
      staticPodDirectory: config.podManifestPath,
      volumesDirectory: this.options.volumesDirectory,
      apiServer: (await mayMakeRules(path)) ? undefined : (this.options.apiServerForPods ?? (() => apiServer)),
      allowedUnsafeSysctls: config.allowedUnsafeSysctls,
      network: startServices && {
        untilIsolated: async (pod, addressesOfPod) => (await this.#servicesStarted).untilIsolated(pod, addressesOfPod),
        untilDrained: async (addressesOfPod, signal) => this.#services?.untilDrained(addressesOfPod, signal),
      },
      watchSeconds,
    });
    return this.agent;
  }

  #startHousekeeping({ machine, runtime, volumes, agent }: HousekeepingParts): void {
    const { clock, log, name: nodeName } = this.options;
    const { pods, event } = agent;
    this.housekeeping = new Housekeeping({
      clock,
      log,
      machine,
      runtime,
      signal: this.signal,
      nodeName,
      pods: () => pods.running(),
      writtenBy: (pod) => this.#writtenBy(pod, volumes),
      driverStatsOf: (uid) => volumes.driverStats(uid),
      rotateLogs: () => rotateLogs(runtime, { now: clock.now(), log }),
      evict: (pod, message, isDisruption) => pods.evict(pod, message, isDisruption),
      warn: (reason, message) => event('Warning', reason, message),
    });
    this.#keeping = this.housekeeping.run();
  }

  async #writtenBy(pod: SandboxConfig['pod'], volumes: Volumes): Promise<PodUsage> {
    const [usage, logs] = await Promise.all([
      volumes.usage(pod.uid),
      logBytes(podLogDirectory(join(this.directory, LOGS), pod)),
    ]);
    const containers = new Map(usage.containers);
    for (const [name, bytes] of logs) containers.set(name, (containers.get(name) ?? 0) + bytes);
    return { ...usage, containers };
  }

  async #startServices(file: NodeFile): Promise<void> {
    const { name, addresses, startServices } = this.options;
    const runningPods = async () => {
      const sandboxes = (await this.runtime?.sandboxes()) ?? [];
      const ready = sandboxes.filter((each) => each.isReady && each.addresses.length > 0);
      return new Map(ready.map((each) => [each.pod.uid, each.addresses]));
    };
    this.#services ??= await startServices?.({
      ...ownerOf(file),
      name,
      addresses,
      podCIDRs: file.podCIDRs,
      runningPods,
    });
    if (this.#services) this.#markServices(this.#services);
  }
}

/** Ports that the cluster itself listens on. The API server may be on another machine. */
function ownPorts(
  { port }: NodeSettings,
  apiServer: NodeOptions['apiServer'],
  addresses: readonly string[],
): ReadonlyMap<number, string> {
  const isHere = [...addresses, '127.0.0.1', '::1'].includes(apiServer.host);
  return new Map([
    ...(port === undefined ? [] : [[port, 'the agent of the node'] as const]),
    ...(isHere ? [[apiServer.port, 'the API server'] as const] : []),
  ]);
}

type Volumes = ReturnType<typeof openVolumes>;

interface OpenedParts {
  readonly runtime: Runtime;
  readonly volumes: Volumes;
  readonly pullRecords: PullRecords;
}

interface HousekeepingParts {
  readonly machine: LocalMachine;
  readonly runtime: Runtime;
  readonly volumes: Volumes;
  readonly agent: Agent;
}

const ownerOf = ({ name, networkNamespace }: NodeFile) => ({ shortName: name, networkNamespace });
