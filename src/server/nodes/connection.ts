/**
 * How the server reaches the agents of nodes. It knows no agent itself: cli/ gives it a connection, to agents in the same
 * process or over the network, and nobody above can tell which.
 */
import { ApiError } from '../../base/errors.ts';

/** Which lines of which container. */
interface LogRequest {
  readonly node: string;
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
  /** The answer goes on until the container ends. */
  readonly follow: boolean;
  /** Of the container that ran before this one. */
  readonly previous: boolean;
  /** Every line begins with its time. */
  readonly timestamps: boolean;
  /** Milliseconds since the epoch: no older lines. */
  readonly since: number | undefined;
  readonly tailLines: number | undefined;
  readonly limitBytes: number | undefined;
  /** The reader has gone. */
  readonly signal: AbortSignal | undefined;
}

/** How much is in use. */
export interface Usage {
  /** Billionths of a processor. */
  readonly cpu: number;
  /** Bytes that cannot be given back at once. */
  readonly memory: number;
}

/** What an agent has measured last of its node and of all pods on it. */
export interface NodeUsage {
  /** Milliseconds since the epoch. */
  readonly time: number;
  /** Over how many milliseconds before that. */
  readonly window: number;
  /** Of the whole machine. */
  readonly node: Usage;
  /** Those with a container that runs. */
  readonly pods: readonly PodUsage[];
}

interface PodUsage {
  readonly namespace: string;
  readonly name: string;
  readonly containers: readonly (Usage & { readonly name: string })[];
}

/** What goes into a pod and comes out of it. */
export type StreamAction = 'exec' | 'attach' | 'portforward';

export interface NodeConnection {
  /** The log in pieces, made as they are taken. Rejects with an ApiError in the words of the agent. */
  logs(request: LogRequest): Promise<AsyncIterable<Uint8Array>>;
  /** Undefined when the agent has measured nothing yet or does not answer: that never fails a question about many. */
  usage(node: string): Promise<NodeUsage | undefined>;
  /** Why a node has no such stream to offer, for people. */
  refusal(node: string, action: StreamAction): string;
}

/** As long as nobody has said how nodes are reached. */
export const NO_CONNECTION: NodeConnection = {
  async logs({ node }) {
    throw new ApiError('InternalError', `the agent of node "${node}" cannot be reached`);
  },
  usage: async () => undefined,
  refusal: (node) => `the agent of node "${node}" cannot be reached`,
};
