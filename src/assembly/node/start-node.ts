/** Starts one node with real pods: registers it, opens its runtime, and starts the agent. */

import type { Duplex } from 'node:stream';
import type { NodeUsage } from '../../api/node-usage.ts';
import type { DeepReadonly } from '../../api/object-types.ts';
import { rejectsOn } from '../../base/event-loop/rejects-on.ts';
import { sleep } from '../../base/time/clock.ts';
import { Node } from '../../kinds/groups/core/node/node.ts';
import { isAddressOf } from '../../node/endpoint/endpoint-node.ts';
import { PodStreams } from '../../node/endpoint/pod-streams.ts';
import { AssemblyError } from '../assembly-error.ts';
import { type ListensOn, openEndpoint } from './endpoint/open-endpoint.ts';
import { thisMachine } from './machine.ts';
import { leaveOriginal, nodeDirectory, readNodeFile } from './node-file.ts';
import { describeOther, OWNER_ANNOTATION, ownerOf, rejectOtherOwner } from './node-owner.ts';
import { NodeParts } from './node-parts.ts';
import type { NodeOptions } from './options.ts';
import { nodeSettings, Registration } from './registration.ts';

export interface RunningNode {
  /** Logs, exec, attach and ports of its pods. */
  readonly streams: PodStreams;
  /** Reports whether an address is one of the node or of its pods. */
  hasAddress(address: string): boolean;
  /** Opens a connection to the endpoint of its agent, which may do everything. */
  connect(): Duplex;
  /** Where the endpoint of its agent is reached on the machine; undefined: not there, or not yet. */
  readonly listensOn: ListensOn | undefined;
  /** Resolves when pods can run. Stays pending when the node is stopped before. */
  readonly ready: Promise<void>;
  /** Undefined until it was measured. */
  usage(): Promise<NodeUsage | undefined>;
  /** Stops the agent. Pods keep running. */
  stop(): Promise<void>;
}

const RETRY_MS = 2_000;

/**
 * Resolves when the node is registered; its runtime comes up after that. A node that has run before does not wait for the
 * server: what it ran is taken over, and its static pods run.
 */
export async function startNode(options: NodeOptions): Promise<RunningNode> {
  const { clock, random, log, name, version, config, authority, upgrades } = options;
  const stop = new AbortController();
  const { signal } = stop;
  const directory = await nodeDirectory(options.dataDirectory, name);
  await leaveOriginal(directory);
  const owner = await ownerOf(directory, random);
  const before = await readNodeFile(directory);
  if (options.canBeElsewhere) await rejectIfElsewhere(options, { owner, hasRun: before !== undefined });
  const parts = new NodeParts(options, directory, signal);
  const runtimeVersion = () => parts.runtime?.version ?? `${options.runtime}://unknown`;
  const machine = thisMachine({ version, runtimeVersion, directory, clock, config });
  const endpoint = await openEndpoint({
    ...options,
    directory,
    authority,
    parts,
    networkNamespace: options.network?.namespace,
    upgrades,
    config: kubeletConfiguration(options),
  });
  const onTaken = (node: DeepReadonly<Node>) => {
    const error = new AssemblyError(`${describeOther(node)}; this machine does not run it any more`);
    log.error('another machine has taken over the node', { node: name, error: error.message });
    options.onTaken?.(error);
  };
  const ownership = { annotation: OWNER_ANNOTATION, id: owner, onTaken };
  const settings = nodeSettings(options, { port: endpoint.port, ownership });
  const registration = new Registration({ ...options, settings, machine, hasRun: before !== undefined, signal });
  const node = await registration.register().catch(async (error: unknown) => {
    stop.abort(error);
    await endpoint.close();
    throw error;
  });
  endpoint.serve();
  const mayOpen = Promise.race([options.openAfter, rejectsOn(signal)]).catch(() => undefined);
  const opening = until(signal, options, async () => {
    await mayOpen;
    signal.throwIfAborted();
    const ranges = node ? await rangesOf(node, options, signal) : (before?.podCIDRs ?? []);
    if (ranges.length === 0) throw new Error('the node has no range of pod addresses yet');
    const handedOver = () => registration.stopped();
    const current = async () => nodeSettings(options, { port: await endpoint.listenInNamespace(), ownership });
    await parts.open(ranges, { machine, settings: current, handedOver }).catch((error: unknown) => {
      registration.runtimeFailed(error);
      throw error;
    });
  });
  const ready = opening.then((isOpen) => (isOpen ? undefined : new Promise<never>(() => {})));
  return {
    streams: new PodStreams(endpoint.node),
    hasAddress: (address) => isAddressOf(endpoint.node, address),
    connect: () => endpoint.endpoint.connect(),
    listensOn: endpoint.listensOn,
    ready,
    usage: async () => parts.housekeeping?.usage(),
    async stop() {
      stop.abort(new Error('the node stops'));
      // Parts that are still opening are closed below.
      await opening;
      await parts.stopServices(before);
      await endpoint.close();
      await registration.stopped();
      await parts.close();
    },
  };
}

/** A node that has run before does not wait for a server that does not answer. */
async function rejectIfElsewhere(
  { client, name }: NodeOptions,
  { owner, hasRun }: { readonly owner: string; readonly hasRun: boolean },
): Promise<void> {
  await rejectOtherOwner(client, name, owner).catch((error: unknown) => {
    if (!hasRun || error instanceof AssemblyError) throw error;
  });
}

/** The ranges of the pods' addresses, which the cluster may have given to the node after it was registered. */
async function rangesOf(
  registered: DeepReadonly<Node>,
  { client, name }: NodeOptions,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const isKnown = registered.spec.podCIDRs?.length;
  const { spec } = isKnown ? registered : await client.of(Node).get(name, { signal });
  return spec.podCIDRs ?? [];
}

/** Tries until it succeeds. Resolves with whether it did; false: it was aborted before. */
async function until(signal: AbortSignal, { clock, log }: NodeOptions, work: () => Promise<void>): Promise<boolean> {
  let reported = '';
  while (!signal.aborted) {
    try {
      await work();
      return true;
    } catch (error) {
      if (signal.aborted) break;
      const reason = String(error);
      // The same reason may hold for long.
      if (reason !== reported) log.warn('the runtime cannot be used yet', { error: reason });
      reported = reason;
      await sleep(clock, RETRY_MS, signal).catch(() => undefined);
    }
  }
  return false;
}

/** The settings of the agent as kubelet names them, for `/configz`. */
function kubeletConfiguration({ clusterDomain, clusterDns, config }: NodeOptions): object {
  return {
    kind: 'KubeletConfiguration',
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    authentication: { x509: {}, webhook: { enabled: true }, anonymous: { enabled: false } },
    authorization: { mode: 'Webhook' },
    clusterDomain,
    get clusterDNS() {
      return clusterDns();
    },
    maxPods: config.maxPods,
    podPidsLimit: config.podPidsLimit ?? -1,
    staticPodPath: config.podManifestPath,
    rotateCertificates: true,
    serverTLSBootstrap: true,
  };
}
