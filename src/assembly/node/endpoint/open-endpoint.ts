/** Opens the endpoint of a node: its listener, and the certificate that it serves with. */
import { uptime } from 'node:os';
import type { UpgradePort } from '../../../api/machine-upgrade.ts';
import type { Tools } from '../../../base/tools.ts';
import { listening } from '../../../network/kernel/local-kernel.ts';
import { listenInNamespace } from '../../../network/kernel/ports/listen-in-namespace.ts';
import type { Agent } from '../../../node/agent/agent.ts';
import type { PodWorker } from '../../../node/agent/worker/pod-worker.ts';
import { findProgram } from '../../../node/containerd/own/machine.ts';
import { Endpoint, type ListenOnPort } from '../../../node/endpoint/endpoint.ts';
import type { EndpointNode, ServedPod } from '../../../node/endpoint/endpoint-node.ts';
import type { Housekeeping } from '../../../node/machine/housekeeping.ts';
import type { Runtime } from '../../../node/runtime/runtime.ts';
import type { NodeOptions } from '../options.ts';
import { keepCertificate, storedCertificate } from './certificate.ts';

/** Parts of the node that the endpoint shows; undefined until they have come up. */
interface NodeParts {
  readonly agent: Agent | undefined;
  readonly runtime: Runtime | undefined;
  readonly housekeeping: Housekeeping | undefined;
}

export interface OpenEndpointOptions extends Tools, Pick<NodeOptions, 'client' | 'name' | 'addresses' | 'path'> {
  readonly parts: NodeParts;
  /** Where the node has its files. */
  readonly directory: string;
  /** Certificates of the cluster's authorities, as PEM; undefined: the endpoint is reached in this process only. */
  readonly authority: (() => string) | undefined;
  /** Path of the network namespace of the node, which is made later; undefined: it is that of the machine. */
  readonly networkNamespace: string | undefined;
  /** The settings of the agent, with the names of KubeletConfiguration. */
  readonly config: object;
  /** Replaces the program of the node; undefined: the node is a part of another program. */
  readonly upgrades: UpgradePort | undefined;
}

export interface ListensOn {
  readonly address: string;
  readonly port: number;
}

export interface OpenEndpoint {
  readonly node: EndpointNode;
  readonly endpoint: Endpoint;
  /** Undefined when it is reached in this process only, or does not listen yet. */
  readonly port: number | undefined;
  /** Where it listens in the network of the machine; undefined: nowhere. */
  readonly listensOn: ListensOn | undefined;
  /** Listens in the network namespace of the node, which is there now. Resolves with the port; undefined: it cannot. */
  listenInNamespace(): Promise<number | undefined>;
  /** Gets the serving certificate, and keeps it valid. For a node that is registered. */
  serve(): void;
  close(): Promise<void>;
}

const LOG_DIRECTORY = '/var/log';
const ALL_INTERFACES = '::';

export async function openEndpoint(options: OpenEndpointOptions): Promise<OpenEndpoint> {
  const { clock, log, name, directory, authority, networkNamespace } = options;
  const node = endpointNode(options);
  const endpoint = new Endpoint({ ...options, node, logDirectory: LOG_DIRECTORY });
  const purpose = 'serving';
  const stored = authority && (await storedCertificate({ purpose, directory, authority: authority() }, clock.now()));
  const listensAtOnce = authority !== undefined && networkNamespace === undefined;
  const listensOn = listensAtOnce
    ? await listen(endpoint, options.addresses[0] ?? ALL_INTERFACES, authority())
    : undefined;
  let port = listensOn?.port;
  let identity = stored;
  if (authority && stored) endpoint.use(stored, authority());
  const stop = new AbortController();
  let serving: Promise<void> | undefined;
  return {
    node,
    endpoint,
    listensOn,
    get port() {
      return port;
    },
    async listenInNamespace() {
      if (!authority || networkNamespace === undefined || port !== undefined) return port;
      try {
        port = await endpoint.listen(portOf(networkNamespace, options.path), authority());
        if (identity) endpoint.use(identity, authority());
      } catch (error) {
        log.warn('the endpoint is reached through the server only', { error: String(error) });
      }
      return port;
    },
    serve() {
      if (!authority) return;
      serving ??= keepCertificate({
        ...options,
        purpose,
        node: name,
        first: stored,
        signal: stop.signal,
        use: (issued) => {
          identity = issued;
          endpoint.use(issued, authority());
        },
      });
    },
    async close() {
      stop.abort(new Error('the endpoint closes'));
      await endpoint.close();
      await serving;
    },
  };
}

/** Ports of a network namespace. */
function portOf(networkNamespace: string, path: string): ListenOnPort {
  return async (server, port) => {
    const nsenter = await findProgram('nsenter', path);
    if (nsenter === undefined) throw new Error('nsenter is not installed');
    await listening(server, await listenInNamespace([nsenter, `--net=${networkNamespace}`], port));
  };
}

/** An address of the node may be one of a gateway before it. */
async function listen(endpoint: Endpoint, address: string, authority: string): Promise<ListensOn> {
  try {
    return { address, port: await endpoint.listen(address, authority) };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRNOTAVAIL') throw error;
    return { address: ALL_INTERFACES, port: await endpoint.listen(ALL_INTERFACES, authority) };
  }
}

function endpointNode({ name, addresses, parts, clock }: OpenEndpointOptions): EndpointNode {
  const served = (worker: PodWorker): ServedPod => ({
    pod: worker.pod,
    state: worker.state,
    probes: () => worker.probeCounts,
  });
  return {
    name,
    addresses,
    get runtime() {
      return parts.runtime;
    },
    get counters() {
      return parts.agent?.pods.counters;
    },
    find(namespace, pod) {
      const worker = parts.agent?.pods.find(namespace, pod);
      return worker && served(worker);
    },
    pods: () => [...(parts.agent?.pods.workers() ?? [])].map(served),
    summary: async () => parts.housekeeping?.summary(clock.now() - uptime() * 1000),
    claimStats: async () => (await parts.housekeeping?.claimStats()) ?? [],
    resourceMetrics: async () => parts.housekeeping?.resourceMetrics(),
  };
}
