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

/** What goes into a pod and comes out of it. */
export type StreamAction = 'exec' | 'attach' | 'portforward';

export interface NodeConnection {
  /** The log in pieces, made as they are taken. Rejects with an ApiError in the words of the agent. */
  logs(request: LogRequest): Promise<AsyncIterable<Uint8Array>>;
  /** Why a node has no such stream to offer, for people. */
  refusal(node: string, action: StreamAction): string;
}

/** As long as nobody has said how nodes are reached. */
export const NO_CONNECTION: NodeConnection = {
  async logs({ node }) {
    throw new ApiError('InternalError', `the agent of node "${node}" cannot be reached`);
  },
  refusal: (node) => `the agent of node "${node}" cannot be reached`,
};
