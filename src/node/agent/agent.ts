/** The agent of one node: registers it, runs the pods that are bound to it, and reports on both. */
import type { Clock } from '../../base/clock.ts';
import { sleep } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import type { Client } from '../../client/client.ts';
import { createEventRecorder } from '../../client/events/event-recorder.ts';
import { InformerFactory } from '../../client/informer/informer-factory.ts';
import { Node } from '../../kinds/groups/core/node/node.ts';
import { PersistentVolume } from '../../kinds/groups/core/persistent-volume/persistent-volume.ts';
import { Pod } from '../../kinds/groups/core/pod/pod.ts';
import { Service } from '../../kinds/groups/core/service/service.ts';
import { admission } from '../admission/admit.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { hostMounter } from '../volumes/host/mounter.ts';
import { directorySelector, eraseNodeDirectories } from '../volumes/node-directories.ts';
import type { Volumes } from '../volumes/volumes.ts';
import type { ActionContext, NodeFacts } from './actions/context.ts';
import { ImagePulls } from './images/pull.ts';
import { ensureCsiNode } from './node/csi-node.ts';
import { keepLease } from './node/lease.ts';
import type { Machine } from './node/machine.ts';
import type { NodeSettings } from './node/node-object.ts';
import { NodeReporter } from './node/node-reporter.ts';
import { referredObjects } from './objects.ts';
import { AgentPods } from './pods.ts';
import { Records } from './worker/records.ts';

export interface AgentOptions {
  /** Acts as the node. */
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly runtime: Runtime;
  readonly volumes: Volumes;
  readonly machine: Machine;
  readonly settings: NodeSettings;
  /** What pods see of the node, besides its allocatable resources. */
  readonly facts: Omit<NodeFacts, 'allocatable'>;
  /** Holds the log directories of all pods. */
  readonly logRoot: string;
  readonly seccompDirectory: string;
  /** Of probes and hooks: `kube-probe/1.36`. */
  readonly userAgent: string;
  /** Limits the duration of watches over a network. */
  readonly watchSeconds?: number;
}

export interface Agent {
  readonly pods: AgentPods;
  /** What pods of the node may use. */
  allocatable(): Readonly<Record<string, string>>;
  /** Stops to act. What runs goes on running. */
  stop(): Promise<void>;
}

const RETRY_MS = 1_000;

/** Resolves when the node is registered and follows its pods. */
export async function startAgent(options: AgentOptions): Promise<Agent> {
  const { client, clock, random, log, runtime, settings } = options;
  const stop = new AbortController();
  const { signal } = stop;
  const common = { client, clock, random, log, signal };
  const recorder = createEventRecorder({ ...common, component: 'kubelet', host: settings.name });
  const { watchSeconds } = options;
  const informers = new InformerFactory({ ...common, ...(watchSeconds ? { watchSeconds } : {}) });
  const reporter = new NodeReporter({
    ...{ ...common, settings, machine: options.machine, runtime },
    // Kubelets use the node's name as its UID in events, and some clients look for that.
    emit: ({ apiVersion, kind }, reason, message) =>
      recorder.event(
        { apiVersion, kind, metadata: { name: settings.name, uid: settings.name } },
        'Normal',
        reason,
        message,
      ),
  });
  const context: ActionContext = {
    ...{ runtime, clock, volumes: options.volumes, logRoot: options.logRoot, userAgent: options.userAgent },
    pulls: new ImagePulls({ images: runtime.images, clock }),
    objects: referredObjects(client, informers.of(Service), signal),
    node: () => ({ ...options.facts, allocatable: reporter.allocatable }),
    seccompDirectory: options.seccompDirectory,
  };
  const own = informers.of(Node, { fieldSelector: `metadata.name=${settings.name}` });
  const pods = new AgentPods({
    ...{ context, client, log, signal, recorder },
    async admission(pod, others) {
      await own.until((nodes) => nodes.get(settings.name) !== undefined, signal);
      return admission(pod, own.lister.get(settings.name)!, others);
    },
    recordsOf: () => {
      const scheme = runtime.version.split('://')[0] ?? '';
      return new Records({ volumes: options.volumes, scheme, hostIPs: () => options.facts.hostIPs });
    },
    hostIP: () => options.facts.hostIPs[0] ?? '',
  });
  const working: Promise<unknown>[] = [];
  const retried = async (work: () => Promise<unknown>, what: string) => {
    while (!signal.aborted) {
      try {
        await work();
        return;
      } catch (error) {
        if (signal.aborted) return;
        log.warn(what, { error: String(error) });
        await sleep(clock, RETRY_MS, signal).catch(() => undefined);
      }
    }
  };
  const end = async () => {
    stop.abort(new Error('the agent stops'));
    leave();
    await Promise.all([pods.stopped(), reporter.stopped(), informers.stopped(), recorder.flushed(), ...working]);
  };
  const leave = runtime.onChange(() => {
    pods.refresh();
    reporter.check();
  });
  try {
    await reporter.register();
  } catch (error) {
    await end();
    throw error;
  }
  const { name } = settings;
  working.push(keepLease({ ...common, node: name, uid: () => reporter.uid }));
  const directories = informers.of(PersistentVolume, { labelSelector: directorySelector(name) });
  // It only reads the mount table.
  working.push(eraseNodeDirectories(directories, { ...common, nodeName: name, mounter: hostMounter(false) }));
  working.push(
    retried(() => pods.follow(informers.of(Pod, { fieldSelector: `spec.nodeName=${name}` })), 'cannot list what runs'),
  );
  const followDrivers = async () => {
    await ensureCsiNode(client, name);
    await options.volumes.followDrivers(signal);
  };
  working.push(retried(followDrivers, 'cannot follow CSI drivers'));
  return { pods, allocatable: () => reporter.allocatable, stop: end };
}
