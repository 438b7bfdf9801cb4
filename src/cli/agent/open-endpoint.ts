/** Opens the endpoint of a node: its listener, and the certificate that it serves with. */
import { uptime } from 'node:os';
import type { Logger } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import type { Clock } from '../../base/time/clock.ts';
import type { Client } from '../../client/client.ts';
import type { Agent } from '../../node/agent/agent.ts';
import type { PodWorker } from '../../node/agent/worker/pod-worker.ts';
import { Endpoint } from '../../node/endpoint/endpoint.ts';
import type { EndpointNode, ServedPod } from '../../node/endpoint/endpoint-node.ts';
import type { Housekeeping } from '../../node/machine/housekeeping.ts';
import type { Runtime } from '../../node/runtime/runtime.ts';
import { keepCertificate, storedCertificate } from './certificate.ts';

/** What the endpoint shows, as far as it has come up. */
interface NodeParts {
  readonly agent: Agent | undefined;
  readonly runtime: Runtime | undefined;
  readonly housekeeping: Housekeeping | undefined;
}

export interface OpenEndpointOptions {
  /** Acts as the node. */
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly name: string;
  readonly addresses: readonly string[];
  readonly parts: NodeParts;
  /** Where the node has its files. */
  readonly directory: string;
  /** Certificates of the cluster's authorities, as PEM; undefined: the endpoint is reached in this process only. */
  readonly authority: (() => string) | undefined;
  /** The settings of the agent, with the names of KubeletConfiguration. */
  readonly config: object;
}

export interface OpenEndpoint {
  readonly node: EndpointNode;
  readonly endpoint: Endpoint;
  /** Undefined when it is reached in this process only. */
  readonly port: number | undefined;
  /** Gets the serving certificate, and keeps it valid. For a node that is registered. */
  serve(): void;
  close(): Promise<void>;
}

const LOG_DIRECTORY = '/var/log';
const ALL_INTERFACES = '::';

export async function openEndpoint(options: OpenEndpointOptions): Promise<OpenEndpoint> {
  const { client, clock, random, log, name, directory, authority, config } = options;
  const node = endpointNode(options);
  const endpoint = new Endpoint({ node, client, clock, log, config, logDirectory: LOG_DIRECTORY });
  const purpose = 'serving';
  const stored = authority && (await storedCertificate({ purpose, directory, authority: authority() }, clock.now()));
  const port = authority && (await listen(endpoint, options.addresses[0] ?? ALL_INTERFACES, authority()));
  if (authority && stored) endpoint.use(stored, authority());
  const stop = new AbortController();
  let serving: Promise<void> | undefined;
  return {
    ...{ node, endpoint, port },
    serve() {
      if (!authority) return;
      serving ??= keepCertificate({
        ...{ client, purpose, node: name, directory, clock, random, log, first: stored, signal: stop.signal },
        use: (issued) => endpoint.use(issued, authority()),
      });
    },
    async close() {
      stop.abort(new Error('the endpoint closes'));
      await endpoint.close();
      await serving;
    },
  };
}

/** An address of the node may be one of a gateway before it. */
async function listen(endpoint: Endpoint, address: string, authority: string): Promise<number> {
  try {
    return await endpoint.listen(address, authority);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRNOTAVAIL') throw error;
    return endpoint.listen(ALL_INTERFACES, authority);
  }
}

function endpointNode({ name, addresses, parts, clock }: OpenEndpointOptions): EndpointNode {
  const served = (worker: PodWorker): ServedPod => ({
    pod: worker.pod,
    state: worker.state,
    probes: () => worker.probeCounts,
  });
  return {
    ...{ name, addresses },
    get runtime() {
      return parts.runtime;
    },
    find(namespace, pod) {
      const worker = parts.agent?.pods.find(namespace, pod);
      return worker && served(worker);
    },
    pods: () => [...(parts.agent?.pods.workers() ?? [])].map(served),
    summary: async () => parts.housekeeping?.summary(clock.now() - uptime() * 1000),
    resourceMetrics: async () => parts.housekeeping?.resourceMetrics(),
  };
}
