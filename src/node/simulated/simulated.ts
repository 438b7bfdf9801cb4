/**
 * Simulated nodes: machines that do not exist, thousands of them in one process. They register, keep leases, and take the
 * pods that are bound to them through their lives by rule. All waits are in one agenda, all writes of pods in one reporter.
 */
import type { Clock } from '../../base/clock.ts';
import { ApiError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import type { Client } from '../../client/client.ts';
import { createEventRecorder } from '../../client/events/event-recorder.ts';
import { InformerFactory } from '../../client/informer/informer-factory.ts';
import { Node } from '../../kinds/groups/core/node/node.ts';
import { PersistentVolume } from '../../kinds/groups/core/persistent-volume/persistent-volume.ts';
import { Pod } from '../../kinds/groups/core/pod/pod.ts';
import { formatAddress, parseAddress, subnetsOf } from './agent/addresses.ts';
import { Agenda } from './agent/agenda.ts';
import { Directories } from './agent/directories.ts';
import { Teller } from './agent/events.ts';
import { Fleet } from './agent/fleet.ts';
import type { Machine } from './agent/machine.ts';
import { SimulatedPods } from './agent/pods.ts';
import { Reporter } from './agent/reporter.ts';
import { type LogRequest, logLines, logRun } from './lifecycle/logs.ts';
import { Sharers } from './lifecycle/sharers.ts';
import { type NodeUsage, usageOf } from './lifecycle/usage.ts';
import type { Rules } from './rules/rules.ts';

export interface SimulatedNodesOptions {
  /** Acts as the simulation: it reads for all nodes. */
  readonly client: Client;
  /** Acts as the node of this name: it writes what an agent writes. */
  readonly clientOf: (node: string) => Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Their names in order. */
  readonly names: readonly string[];
  /** What their pods have their addresses from: `10.244.0.0/16`. */
  readonly clusterCidr: string;
  /** What they say they are a version of: `v1.36.4`. */
  readonly version: string;
  readonly rules: Rules;
}

export interface SimulatedNodes {
  /** Whether a node is one of these. */
  has(node: string): boolean;
  /** Rejects with an ApiError in the words of an agent. */
  logs(request: LogRequest): Promise<AsyncIterable<Buffer>>;
  /** What a node and its pods use now; undefined when it is none of these, or down. */
  usage(node: string): NodeUsage | undefined;
  /** Resolves when nothing of them is under way any more. */
  stop(): Promise<void>;
}

/** Addresses of machines come from a range that is kept for networks of providers: nobody's own is there. */
const FIRST_MACHINE = parseAddress('100.64.0.1');

/** Resolves when all nodes are registered. Throws a RangeError when the range has no room for them. */
export async function startSimulatedNodes(options: SimulatedNodesOptions): Promise<SimulatedNodes> {
  const { client, clientOf, clock, random, log, rules } = options;
  const stop = new AbortController();
  const common = { client, clock, random, log, signal: stop.signal };
  const agenda = new Agenda(clock);
  const informers = new InformerFactory(common);
  const recorderOf = (host: string) =>
    createEventRecorder({ ...common, client: clientOf(host), component: 'kubelet', host });
  const teller = new Teller(clock, options.names.length, recorderOf);
  const reporter = new Reporter({ ...common, agenda });
  const pods = new SimulatedPods({
    ...{ clock, random, log, agenda, reporter, rules: rules.pods },
    nodeOf: (name) => fleet.node(name),
    tell: (life, happening) => teller.tell(life, happening),
  });
  const nodes = informers.of(Node);
  const fleet: Fleet = new Fleet({
    ...{ ...common, clientOf, agenda, nodes, machines: machinesOf(options), rules: rules.nodes },
    onUp: (node) => {
      pods.resume(node);
      directories.resume(node.name);
    },
    tell: (node, what) => teller.tellOfNode(node, what),
    onGone: (node) => pods.forget(node),
  });
  const directories = new Directories({ ...common, nodeOf: (name) => fleet.node(name) });
  const end = async () => {
    stop.abort();
    agenda.close();
    const parts = [reporter, fleet, directories, informers].map((part) => part.stopped());
    await Promise.all([...parts, teller.flushed()]);
  };
  try {
    await nodes.synced;
    await fleet.register();
  } catch (error) {
    await end();
    throw error;
  }
  const podInformer = informers.of(Pod);
  const sharers = new Sharers(podInformer.lister, clock);
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
      return usageOf(pods.livesOn(node), { now: clock.now(), sharers: (life) => sharers.of(life) });
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
