/** Registers a node before its runtime is open, and reports it until its agent does. */
import type { DeepReadonly } from '../../api/object-types.ts';
import type { Node } from '../../kinds/groups/core/node/node.ts';
import { GATEWAY_ANNOTATION } from '../../network/routes/routing-of.ts';
import type { NodeSettings } from '../../node/agent/node/node-object.ts';
import { NodeReporter } from '../../node/agent/node/node-reporter.ts';
import type { LocalMachine } from '../../node/machine/local-machine.ts';
import type { Runtime } from '../../node/runtime/runtime.ts';
import type { NodeOptions } from './options.ts';

interface RegistrationOptions extends Pick<NodeOptions, 'client' | 'clock' | 'random' | 'log'> {
  readonly settings: NodeSettings;
  readonly machine: LocalMachine;
  /** True when the node has run before. */
  readonly hasRun: boolean;
  readonly signal: AbortSignal;
}

export class Registration {
  readonly #reporter: NodeReporter;
  /** A node that ran before goes on: reported as not ready, its pods would leave their services for a moment. */
  #isExpectedReady: boolean;
  #message = 'the runtime is starting';

  constructor(private readonly options: RegistrationOptions) {
    this.#isExpectedReady = options.hasRun;
    const runtime = { ...CLOSED_RUNTIME, health: async () => this.#health() };
    this.#reporter = new NodeReporter({ ...options, runtime, emit: () => {} });
  }

  /** Resolves with undefined when the server does not answer and the node has run before: it goes on with what it knows. */
  async register(): Promise<DeepReadonly<Node> | undefined> {
    try {
      return await this.#reporter.register();
    } catch (error) {
      if (!this.options.hasRun) throw error;
      const fields = { error: String(error) };
      this.options.log.warn('the server does not answer; the node goes on with what it knows', fields);
      return undefined;
    }
  }

  /** The runtime could not be opened: the node is reported as not ready from now on, with the reason. */
  runtimeFailed(error: unknown): void {
    this.#isExpectedReady = false;
    this.#message = (error as Error).message;
    this.#reporter.check();
  }

  /** Ends the reports, and resolves when the last one was sent. */
  stopped(): Promise<void> {
    return this.#reporter.stopped();
  }

  #health() {
    const isReady = this.#isExpectedReady;
    return { isReady, isNetworkReady: isReady, message: this.#message };
  }
}

const CLOSED_RUNTIME = {
  images: { list: async () => [] } as unknown as Runtime['images'],
  handlers: [],
  supplementalGroupsPolicy: undefined,
};

/** Settings that the Node object reports. */
export function nodeSettings(
  { name, addresses, podCIDR, config, network }: NodeOptions,
  { port, ownership }: Required<Pick<NodeSettings, 'ownership'>> & Pick<NodeSettings, 'port'>,
): NodeSettings {
  return {
    name,
    labels: config.labels,
    taints: config.taints,
    port,
    addresses: [
      ...addresses.map((address) => ({ type: 'InternalIP' as const, address })),
      { type: 'Hostname', address: name },
    ],
    podCIDRs: podCIDR ? [podCIDR] : [],
    annotations: { [ownership.annotation]: ownership.id, ...(network && { [GATEWAY_ANNOTATION]: network.gateway }) },
    ownership,
  };
}
