/**
 * How the server reaches node agents. It is given a connection by cli/, to agents in the same process or over the network,
 * and does not know which.
 */
import { ApiError } from '../../base/errors.ts';

/** Selects lines of a container's log. */
interface LogRequest {
  readonly node: string;
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
  /** Whether to stream further lines until the container ends. */
  readonly follow: boolean;
  /** Whether the log of the previous container is meant. */
  readonly previous: boolean;
  /** Whether every line begins with its time. */
  readonly timestamps: boolean;
  /** The oldest line, in milliseconds since the epoch. */
  readonly since: number | undefined;
  readonly tailLines: number | undefined;
  readonly limitBytes: number | undefined;
  /** Aborted when the client has disconnected. */
  readonly signal: AbortSignal | undefined;
}

/** Resource usage. */
export interface Usage {
  /** In nanocores. */
  readonly cpu: number;
  /** The working set, in bytes. */
  readonly memory: number;
}

/** The latest metrics of a node and its pods. */
export interface NodeUsage {
  /** Milliseconds since the epoch. */
  readonly time: number;
  /** The length of the measured interval, in milliseconds. */
  readonly window: number;
  /** Of the whole machine. */
  readonly node: Usage;
  /** Pods with a running container. */
  readonly pods: readonly PodUsage[];
}

interface PodUsage {
  readonly namespace: string;
  readonly name: string;
  readonly containers: readonly (Usage & { readonly name: string })[];
}

/** A subresource that opens a stream to a pod. */
export type StreamAction = 'exec' | 'attach' | 'portforward';

export interface NodeConnection {
  /** The log in chunks, read as they are consumed. Rejects with an ApiError. */
  logs(request: LogRequest): Promise<AsyncIterable<Uint8Array>>;
  /** Undefined if the agent has no metrics yet or does not answer, so that one node never fails a list of many. */
  usage(node: string): Promise<NodeUsage | undefined>;
  /** Why a node does not offer this stream, as an error message. */
  refusal(node: string, action: StreamAction): string;
}

/** Used until a connection is set. */
export const NO_CONNECTION: NodeConnection = {
  async logs({ node }) {
    throw new ApiError('InternalError', `the agent of node "${node}" cannot be reached`);
  },
  usage: async () => undefined,
  refusal: (node) => `the agent of node "${node}" cannot be reached`,
};
