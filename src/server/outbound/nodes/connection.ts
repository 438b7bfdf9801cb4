/**
 * How the server reaches node agents. It is given a connection when it is created, to agents in the same process or
 * over the network, and does not know which.
 */
import type { Duplex } from 'node:stream';
import { ApiError } from '../../../api/errors.ts';
import type { NodeUsage } from '../../../api/node-usage.ts';
import type { CommandStreams } from '../../../api/remote-command/command-channels.ts';
import type { ProcessStreams } from '../../../base/programs/process-streams.ts';

interface LogRequest extends ContainerTarget {
  /** True to stream further lines until the container ends. */
  readonly follow: boolean;
  /** True for the log of the previous container. */
  readonly previous: boolean;
  /** True to prefix every line with its time. */
  readonly timestamps: boolean;
  /** Time of the oldest line, in milliseconds since the epoch. */
  readonly since: number | undefined;
  readonly tailLines: number | undefined;
  /** The selected stream; undefined for both. */
  readonly stream: 'Stdout' | 'Stderr' | undefined;
  readonly limitBytes: number | undefined;
  /** Aborted when the client has disconnected. */
  readonly signal: AbortSignal | undefined;
}

interface ContainerTarget {
  readonly node: string;
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
}

export interface AttachRequest extends ContainerTarget {
  /** The requested streams; `stderr` is never requested together with a terminal. */
  readonly streams: CommandStreams;
  /** Aborted when the client has disconnected. */
  readonly signal: AbortSignal | undefined;
}

interface ExecRequest extends AttachRequest {
  readonly command: readonly string[];
}

interface PortRequest {
  readonly node: string;
  readonly namespace: string;
  readonly pod: string;
  /** Port on the loopback address of the pod. */
  readonly port: number;
  readonly signal: AbortSignal | undefined;
}

interface DialRequest {
  readonly node: string;
  /** Address of a pod on the node. */
  readonly address: string;
  readonly port: number;
  readonly signal: AbortSignal | undefined;
}

/** The streams that a node may reject altogether. */
export type StreamAction = 'exec' | 'attach' | 'portforward' | 'proxy';

/** Opens connections to nodes. Rejects with an ApiError, which the client sees, or with an Error. */
export interface NodeConnection {
  /** Returns the log in chunks, read as they are consumed. */
  logs(request: LogRequest): Promise<AsyncIterable<Uint8Array>>;
  /** Returns the usage; undefined if the agent has none yet or does not respond, so that one never fails a list. */
  usage(node: string): Promise<NodeUsage | undefined>;
  /** Returns an error message if the node does not offer streams of this type; undefined if it does. */
  rejection(node: string, action: StreamAction): string | undefined;
  /** Starts a process in a container. It ends when its streams are closed. */
  exec(request: ExecRequest): Promise<ProcessStreams>;
  attach(request: AttachRequest): Promise<ProcessStreams>;
  portForward(request: PortRequest): Promise<Duplex>;
  /** Connects to an address that is reachable from the node, for proxies to pods. */
  dial(request: DialRequest): Promise<Duplex>;
  /** Connects to the HTTP endpoint of the agent, with the rights of the server, for proxies to the node itself. */
  endpoint(node: string, signal: AbortSignal | undefined): Promise<Duplex>;
}

/** A connection to an agent that cannot be reached. Also a base for connections with fewer features. */
export function unreachable(why: (node: string) => string): NodeConnection {
  const reject = async ({ node }: { readonly node: string }): Promise<never> => {
    throw new ApiError('InternalError', why(node));
  };
  return {
    logs: reject,
    usage: async () => undefined,
    rejection: why,
    exec: reject,
    attach: reject,
    portForward: reject,
    dial: reject,
    endpoint: (node) => reject({ node }),
  };
}

/** For a server that reaches no node. */
export const NO_CONNECTION: NodeConnection = unreachable((node) => `the agent of node "${node}" cannot be reached`);

/** Reaches each node by the connection that `to` returns for it now. */
export function connectionByNode(to: (node: string) => NodeConnection): NodeConnection {
  return {
    logs: (request) => to(request.node).logs(request),
    usage: (node) => to(node).usage(node),
    rejection: (node, action) => to(node).rejection(node, action),
    exec: (request) => to(request.node).exec(request),
    attach: (request) => to(request.node).attach(request),
    portForward: (request) => to(request.node).portForward(request),
    dial: (request) => to(request.node).dial(request),
    endpoint: (node, signal) => to(node).endpoint(node, signal),
  };
}
