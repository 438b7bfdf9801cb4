/** The agent of one node: registers it, runs the pods that are bound to it, and reports on both. */

import { sleep } from '../../base/time/clock.ts';
import type { ClientTools } from '../../client/client.ts';
import { createEventRecorder, type EventType } from '../../client/events/event-recorder.ts';
import { InformerFactory } from '../../client/informer/informer-factory.ts';
import { Node } from '../../kinds/groups/core/node/node.ts';
import { POD_NETWORK_ANNOTATION } from '../../kinds/groups/core/node/pod-network.ts';
import { PersistentVolume } from '../../kinds/groups/core/persistent-volume/persistent-volume.ts';
import { Pod } from '../../kinds/groups/core/pod/pod.ts';
import { Service } from '../../kinds/groups/core/service/service.ts';
import { admission } from '../admission/admit.ts';
import { isStatic } from '../admission/critical.ts';
import { nodePortsOf, type PortInUse } from '../admission/ports.ts';
import type { SeenPod } from '../pod/container-run.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { directorySelector, eraseNodeDirectories } from '../volumes/directories/node-directories.ts';
import { ownDirectory } from '../volumes/directories/own-directory.ts';
import { hostMounter } from '../volumes/host/mounter.ts';
import type { ActionContext, NodeFacts, PodNetwork } from './actions/context.ts';
import { ImagePulls, type PullEvent } from './images/pull.ts';
import type { PullRecords } from './images/pull-records.ts';
import { ensureCsiNode } from './node/csi-node.ts';
import { keepLease } from './node/lease.ts';
import type { NodeSettings } from './node/node-object.ts';
import { NodeReporter, type NodeReporterOptions } from './node/node-reporter.ts';
import { type ApiServerAddress, referredObjects } from './objects.ts';
import { AgentPods } from './pods.ts';
import { ManifestDirectory } from './static/manifest-directory.ts';
import { eventSubject } from './worker/events.ts';
import { Records } from './worker/records.ts';

type AgentContext = Pick<
  ActionContext,
  'runtime' | 'volumes' | 'logRoot' | 'seccompDirectory' | 'userAgent' | 'dialGuard'
>;

export interface AgentOptions extends ClientTools, AgentContext, Pick<NodeReporterOptions, 'settings' | 'machine'> {
  /** Facts about the node that pods see, besides its allocatable resources. */
  readonly facts: Omit<NodeFacts, 'allocatable' | 'sharesNetwork'>;
  readonly pullRecords: PullRecords;
  /** Address of the API server for the variables of containers, where that of its Service cannot be reached. */
  readonly apiServer?: (() => ApiServerAddress) | undefined;
  /** Kernel parameters that pods may set although they are not safe: names, or beginnings with `*` at the end. */
  readonly allowedUnsafeSysctls?: readonly string[];
  /** Who of the machine has some of these ports, which pods must leave alone. */
  readonly portsInUse?: (wanted: ReadonlySet<number>) => Promise<readonly PortInUse[]>;
  /** Holds the manifests of static pods. Undefined: there are none. */
  readonly staticPodDirectory?: string | undefined;
  /** Where the volumes are that were provisioned on the node; undefined: at the paths that they have. */
  readonly volumesDirectory?: string | undefined;
  /** Undefined: there are neither Services nor network policies. */
  readonly network?: PodNetwork | undefined;
  /** Limits the duration of watches over a network. */
  readonly watchSeconds?: number;
}

export interface Agent {
  readonly pods: AgentPods;
  /** Resolves when the node is registered, which is tried until it succeeds. Rejects when the agent stops before. */
  readonly registered: Promise<void>;
  /** Records an event about the node. */
  readonly event: (type: EventType, reason: string, message: string) => void;
  /** Records an event about a pod. */
  readonly podEvent: (pod: SeenPod, event: PullEvent) => void;
  /** Resources that pods of the node may use. */
  allocatable(): Readonly<Record<string, string>>;
  /** Stops to act. What runs goes on running. */
  stop(): Promise<void>;
}

/** Whoever schedules pods, or checks what is reported about them, has to know which addresses and ports they have. */
function withNetwork(settings: NodeSettings, { podNetwork = 'cluster' }: Runtime): NodeSettings {
  return { ...settings, annotations: { ...settings.annotations, [POD_NETWORK_ANNOTATION]: podNetwork } };
}

const RETRY_MS = 1_000;
const MAX_RETRY_MS = 8_000;

/** Static pods run at once, all others when the node is registered. */
export function startAgent(options: AgentOptions): Agent {
  const { client, clock, random, log, runtime } = options;
  const settings = withNetwork(options.settings, runtime);
  const { name } = settings;
  const sharesNetwork = runtime.podNetwork === 'node';
  const stop = new AbortController();
  const { signal } = stop;
  const common = { client, clock, random, log, signal };
  const recorder = createEventRecorder({ ...common, component: 'kubelet', host: settings.name });
  // Kubelets use the node's name as its UID in events, and some clients look for that.
  const nodeEvent = (type: EventType, reason: string, message: string) =>
    recorder.event({ apiVersion: 'v1', kind: 'Node', metadata: { name, uid: name } }, type, reason, message);
  const informers = new InformerFactory({ ...common, watchSeconds: options.watchSeconds });
  const reporter = new NodeReporter({
    ...common,
    settings,
    machine: options.machine,
    runtime,
    emit: (_, reason, message) => nodeEvent('Normal', reason, message),
  });
  const context: ActionContext = {
    runtime,
    clock,
    volumes: options.volumes,
    logRoot: options.logRoot,
    userAgent: options.userAgent,
    dialGuard: options.dialGuard,
    pulls: new ImagePulls({ images: runtime.images, records: options.pullRecords, clock }),
    objects: referredObjects(client, informers.of(Service), { signal, apiServer: options.apiServer }),
    node: () => ({ ...options.facts, sharesNetwork, allocatable: reporter.allocatable }),
    seccompDirectory: options.seccompDirectory,
    network: {
      // Static pods run also while the server, and with it the policies, cannot be reached.
      untilIsolated: async (pod, addresses) => {
        if (!isStatic(pod)) await options.network?.untilIsolated(pod, addresses);
      },
      untilDrained: async (addresses, each) => options.network?.untilDrained(addresses, each),
    },
  };
  const { allowedUnsafeSysctls = [] } = options;
  const own = informers.of(Node, { fieldSelector: `metadata.name=${name}` });
  own.onChange(({ type, object }) => {
    if (type !== 'delete') reporter.seen(object);
  });
  const pods = new AgentPods({
    context,
    client,
    random,
    log,
    signal,
    recorder,
    async admission(pod, others, isNew) {
      if (!isStatic(pod)) await own.until((nodes) => nodes.get(name) !== undefined, signal);
      const node = own.lister.get(name) ?? (await reporter.expected());
      // Pods on the network of the node take their ports themselves, and see what is wrong with them.
      const wanted = isNew && !pod.spec.hostNetwork ? nodePortsOf(pod, node).map(({ port }) => port) : [];
      const portsInUse = wanted.length > 0 ? await (options.portsInUse?.(new Set(wanted)) ?? []) : [];
      return admission(pod, node, others, { allowedUnsafeSysctls, portsInUse });
    },
    nodeName: name,
    nodeUid: () => reporter.uid,
    recordsOf: () => {
      const scheme = runtime.version.split('://')[0] ?? '';
      return new Records({ volumes: options.volumes, scheme, node: () => ({ ...options.facts, sharesNetwork }) });
    },
    hostIP: () => options.facts.hostIPs[0] ?? '',
  });
  const retried = async (work: () => Promise<unknown>, what: string) => {
    for (let delay = RETRY_MS; !signal.aborted; delay = Math.min(2 * delay, MAX_RETRY_MS)) {
      try {
        await work();
        return;
      } catch (error) {
        if (signal.aborted) return;
        log.warn(what, { error: String(error) });
        await sleep(clock, delay, signal).catch(() => undefined);
      }
    }
  };
  const leave = runtime.onChange(() => {
    pods.refresh();
    reporter.check();
  });
  const manifests = options.staticPodDirectory === undefined ? undefined : manifestsOf(options.staticPodDirectory);
  const takenOver = retried(() => pods.takeOver(), 'cannot list what runs').then(() =>
    signal.aborted ? undefined : retried(async () => manifests?.start(), 'cannot read the manifests of static pods'),
  );
  const registered = retried(() => reporter.register(), 'cannot register the node').then(() => signal.throwIfAborted());
  const following = registered.then(async () => {
    const directories = informers.of(PersistentVolume, { labelSelector: directorySelector(name) });
    await Promise.all([
      keepLease({ ...common, node: name, uid: () => reporter.uid, onRecovered: () => reporter.reread() }),
      // It only reads the mount table.
      eraseNodeDirectories(directories, {
        ...common,
        nodeName: name,
        mounter: hostMounter(false),
        directoryOf: ownDirectory(options.volumesDirectory),
      }),
      retried(async () => {
        await ensureCsiNode(client, name);
        await options.volumes.followDrivers(signal);
      }, 'cannot follow CSI drivers'),
      takenOver.then(() => {
        signal.throwIfAborted();
        return pods.follow(informers.of(Pod, { fieldSelector: `spec.nodeName=${name}` }));
      }),
    ]);
  });
  following.catch((error: unknown) => {
    if (!signal.aborted) log.error('the agent cannot go on', { error: String(error) });
  });
  return {
    pods,
    registered,
    event: nodeEvent,
    allocatable: () => reporter.allocatable,
    podEvent: (pod, { type, reason, message }) => recorder.event(eventSubject(pod, undefined), type, reason, message),
    async stop() {
      stop.abort(new Error('the agent stops'));
      leave();
      await Promise.all([takenOver, following.catch(() => undefined), manifests?.stopped()]);
      await Promise.all([pods.stopped(), reporter.stopped(), informers.stopped(), recorder.flushed()]);
    },
  };

  function manifestsOf(directory: string): ManifestDirectory {
    return new ManifestDirectory({
      clock,
      signal,
      directory,
      node: name,
      onPods: (found) => pods.setStatic(found),
      onInvalid: (path, error) => {
        log.error('a manifest of a static pod is invalid', { path, error });
        nodeEvent('Warning', 'InvalidStaticPod', `${path}: ${error}`);
      },
    });
  }
}
