/**
 * How the server reaches node agents. It is given a connection when it is created, to agents in the same process or
 * over the network, and does not know which.
 */
import type { Duplex } from 'node:stream';
import { ApiError } from '../../../api/errors.ts';
import type { CommandStreams } from '../../../api/remote-command/command-channels.ts';
import type { ProcessStreams } from '../../../base/programs/process-streams.ts';

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
  /** One of the two streams; undefined: both. */
  readonly stream: 'Stdout' | 'Stderr' | undefined;
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

/** A container of a pod. */
interface ContainerTarget {
  readonly node: string;
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
}

interface AttachRequest extends ContainerTarget {
  /** The streams that the client wants; `stderr` is never wanted together with a terminal. */
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
  /** Where a program in the pod listens on its loopback address. */
  readonly port: number;
  readonly signal: AbortSignal | undefined;
}

interface DialRequest {
  readonly node: string;
  /** Of a pod on the node. */
  readonly address: string;
  readonly port: number;
  readonly signal: AbortSignal | undefined;
}

/** What a node may refuse to offer at all. */
export type StreamAction = 'exec' | 'attach' | 'portforward' | 'proxy';

/** Every method that opens something rejects with an ApiError, which the client sees, or with an Error. */
export interface NodeConnection {
  /** The log in chunks, read as they are consumed. */
  logs(request: LogRequest): Promise<AsyncIterable<Uint8Array>>;
  /** Undefined if the agent has no metrics yet or does not answer, so that one node never fails a list of many. */
  usage(node: string): Promise<NodeUsage | undefined>;
  /** Why a node does not offer streams of this kind, as an error message; undefined if it does. */
  refusal(node: string, action: StreamAction): string | undefined;
  /** Starts a process in a container. It ends when its streams are closed. */
  exec(request: ExecRequest): Promise<ProcessStreams>;
  /** Connects to the process of a container. */
  attach(request: AttachRequest): Promise<ProcessStreams>;
  /** Connects to a port inside a pod. */
  portForward(request: PortRequest): Promise<Duplex>;
  /** Connects to an address that is reachable from the node: for proxies to pods. */
  dial(request: DialRequest): Promise<Duplex>;
  /** Connects to the HTTP endpoint of the agent, with the rights of the server: for proxies to the node itself. */
  endpoint(node: string, signal: AbortSignal | undefined): Promise<Duplex>;
}

/** The connection to an agent that does not answer. Also a start for one that offers less than everything. */
export function unreachable(why: (node: string) => string): NodeConnection {
  const refuse = async ({ node }: { readonly node: string }): Promise<never> => {
    throw new ApiError('InternalError', why(node));
  };
  return {
    logs: refuse,
    usage: async () => undefined,
    refusal: why,
    exec: refuse,
    attach: refuse,
    portForward: refuse,
    dial: refuse,
    endpoint: (node) => refuse({ node }),
  };
}

/** For a server that reaches no node. */
export const NO_CONNECTION: NodeConnection = unreachable((node) => `the agent of node "${node}" cannot be reached`);
