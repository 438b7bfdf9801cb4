/**
 * Runs simulated nodes, thousands of them in one process. They register, renew leases, and take the pods that are bound to
 * them through their lifecycle by rule. All timers are in one queue, and all status writes in one reporter.
 */

import { ApiError } from '../../api/errors.ts';
import type { NodeUsage } from '../../api/node-usage.ts';
import type { Client, ClientTools } from '../../client/client.ts';
import { createEventRecorder } from '../../client/events/event-recorder.ts';
import { InformerFactory } from '../../client/informer/informer-factory.ts';
import { Node } from '../../kinds/groups/core/node/node.ts';
import { PersistentVolume } from '../../kinds/groups/core/persistent-volume/persistent-volume.ts';
import { Pod } from '../../kinds/groups/core/pod/pod.ts';
import { formatAddress, parseAddress, subnetsOf } from './agent/addresses.ts';
import { AgentEvents } from './agent/agent-events.ts';
import { DirectoryVolumes } from './agent/directory-volumes.ts';
import { Fleet } from './agent/fleet.ts';
import type { Machine } from './agent/machine.ts';
import { SimulatedPods } from './agent/pods.ts';
import { StatusReporter } from './agent/status-reporter.ts';
import { TimerQueue } from './agent/timer-queue.ts';
import { type LogRequest, logLines, logRun } from './lifecycle/logs.ts';
import { SharedLoad } from './lifecycle/shared-load.ts';
import { usageOf } from './lifecycle/usage.ts';
import type { Rules } from './rules/rules.ts';

export interface SimulatedNodesOptions extends ClientTools {
  /** Acts as the node of this name: it writes what a kubelet writes. */
  readonly clientOf: (node: string) => Client;
  /** The names of the nodes, in order; may be empty. */
  readonly names: readonly string[];
  /** Divided among the nodes for their pods: `10.244.0.0/16`. */
  readonly clusterCidr: string;
  /** The kubelet version to report: `v1.36.4`. */
  readonly version: string;
  /** Rules of simulated nodes. */
  readonly rules: Rules;
  /** Milliseconds between two renewals of a node's lease; default: a minute or, with many nodes, more. */
  readonly renewalMs?: number;
}

export interface SimulatedNodes {
  /** Reports whether the node is simulated. */
  has(node: string): boolean;
  /** Rejects with the ApiError of a kubelet. */
  logs(request: LogRequest): Promise<AsyncIterable<Buffer>>;
  /** Returns the usage of a node and its pods; undefined when the node is not simulated, or down. */
  usage(node: string): NodeUsage | undefined;
  /** Resolves when no work is in progress. */
  stop(): Promise<void>;
}

/** Node addresses are from the shared address space of RFC 6598, which private networks do not use. */
const FIRST_MACHINE = parseAddress('100.64.0.1');

/** Resolves when all nodes are registered. Throws a RangeError when the CIDR is too small. */
export async function startSimulatedNodes(options: SimulatedNodesOptions): Promise<SimulatedNodes> {
  const { client, clientOf, clock, random, log, rules } = options;
  const stop = new AbortController();
  const common = { client, clock, random, log, signal: stop.signal };
  const timers = new TimerQueue(clock, log);
  const informers = new InformerFactory(common);
  const recorderOf = (host: string) =>
    createEventRecorder({ ...common, client: clientOf(host), component: 'kubelet', host });
  const events = new AgentEvents(clock, options.names.length, recorderOf);
  const reporter = new StatusReporter({ ...common, timers });
  const pods = new SimulatedPods({
    clock,
    random,
    log,
    timers,
    reporter,
    rules: rules.pods,
    nodeOf: (name) => fleet.node(name),
    objectOf: (node) => nodes.lister.get(node.name),
    emit: (life, event) => events.podEvent(life, event),
  });
  const nodes = informers.of(Node);
  const fleet: Fleet = new Fleet({
    ...common,
    clientOf,
    timers,
    nodes,
    machines: machinesOf(options),
    rules: rules.nodes,
    renewalMs: options.renewalMs,
    onUp: (node) => {
      pods.resume(node);
      directories.resume(node.name);
    },
    emit: (node, reason) => events.nodeEvent(node, reason),
    onGone: (node) => pods.forget(node),
  });
  const directories = new DirectoryVolumes({ ...common, nodeOf: (name) => fleet.node(name) });
  const end = async () => {
    stop.abort();
    timers.close();
    const parts = [reporter, fleet, directories, informers].map((part) => part.stopped());
    await Promise.all([...parts, events.flushed()]);
  };
  try {
    await nodes.synced;
    await fleet.register();
  } catch (error) {
    await end();
    throw error;
  }
  const podInformer = informers.of(Pod);
  const podsSharing = new SharedLoad(podInformer.lister, clock);
  podInformer.onChange((change) => pods.onChange(change));
  directories.follow(informers.of(PersistentVolume));
  return {
    has: (node) => fleet.node(node) !== undefined,
    async logs(request) {
      const life = pods.lifeOf(request.namespace, request.pod);
      if (!fleet.node(request.node)?.isUp || !life) {
        throw new ApiError('InternalError', `the agent of node "${request.node}" does not answer`);
      }
      return logLines({ clock, life, run: logRun(life, request) }, request);
    },
    usage(name) {
      const node = fleet.node(name);
      if (!node?.isUp) return undefined;
      return usageOf(pods.livesOn(node), { now: clock.now(), podsSharing: (life) => podsSharing.of(life) });
    },
    stop: end,
  };
}

function machinesOf({ names, clusterCidr, version }: SimulatedNodesOptions): Machine[] {
  const subnets = subnetsOf(clusterCidr, names.length);
  if (!subnets) throw new RangeError(`${clusterCidr} has no room for the pods of ${names.length} nodes`);
  return names.map((name, index) => ({
    name,
    address: formatAddress(FIRST_MACHINE + index),
    podRange: subnets.at(index),
    pods: subnets.pods,
    version,
  }));
}
