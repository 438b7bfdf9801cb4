/** Reaches agents in other processes, over HTTPS. */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { ApiError, isApiError } from '../../../api/errors.ts';
import type { NodeUsage } from '../../../api/node-usage.ts';
import { RefusedUpgrade } from '../../../api/remote-command/client.ts';
import type { CommandStreams } from '../../../api/remote-command/command-channels.ts';
import { openCommand } from '../../../api/remote-command/command-client.ts';
import { openPort } from '../../../api/remote-command/port-client.ts';
import { joinHost } from '../../../base/sockets/dial/dial-error.ts';
import type { DialGuard } from '../../../base/sockets/dial/dial-guard.ts';
import type { Clock } from '../../../base/time/clock.ts';
import {
  type AgentAddress,
  type AgentIdentity,
  agentError,
  connectThrough,
  DialError,
  dialAgent,
  getFrom,
} from './agent-connection.ts';
import type { NodeConnection } from './connection.ts';

interface HttpsConnectionOptions {
  /** Returns the address of a node's agent; undefined if unknown. */
  addressOf(node: string): AgentAddress | undefined;
  /** Returns the certificates of the server. Called for every connection, since they are renewed. */
  identity(): Promise<AgentIdentity>;
  /** Checks the reported addresses of agents. */
  readonly guard: DialGuard;
  readonly clock: Clock;
}

interface ContainerOf {
  readonly namespace: string;
  readonly pod: string;
  readonly container?: string;
}

const USAGE_TIMEOUT_MS = 5_000;
const MAX_SUMMARY_BYTES = 64 * 1024 * 1024;

export function httpsConnection({ addressOf, identity, guard, clock }: HttpsConnectionOptions): NodeConnection {
  const unknown = (node: string) => `the agent of node "${node}" cannot be reached`;
  const found = (node: string): AgentAddress => {
    const address = addressOf(node);
    if (!address) throw new ApiError('InternalError', unknown(node));
    return address;
  };
  const open = async (node: string, signal: AbortSignal | undefined): Promise<TLSSocket> =>
    dialAgent({ node, address: found(node), identity: await identity(), guard, clock, signal });
  /** Builds a URL whose host is only for display: requests use an open connection. */
  const urlOf = (node: string, path: string) => {
    const { host, port } = found(node);
    return new URL(`http://${joinHost(host, port)}${path}`);
  };
  const stream = async <T>(
    { node, signal }: { readonly node: string; readonly signal: AbortSignal | undefined },
    use: (connection: Duplex) => Promise<T>,
  ): Promise<T> => {
    try {
      return await use(await open(node, signal));
    } catch (error) {
      throw streamError(error);
    }
  };
  return {
    rejection: (node) => (addressOf(node) ? undefined : unknown(node)),
    async logs({ node, namespace, pod, container, signal, ...selection }) {
      const query = logQuery(selection);
      const path = `${pathOf('containerLogs', { namespace, pod, container })}${query && `?${query}`}`;
      const { host, port } = found(node);
      try {
        return chunksOf(await getFrom(await open(node, signal), path, signal), signal);
      } catch (error) {
        if (!(error instanceof DialError)) throw error;
        const message = `Get "https://${joinHost(host, port)}${path}": ${error.message}`;
        throw new ApiError('InternalError', message, { cause: error });
      }
    },
    exec: ({ command, streams, ...target }) =>
      stream(target, (connection) => {
        const url = urlOf(target.node, `${pathOf('exec', target)}?${commandQuery(streams, command)}`);
        return openCommand({ url, connection, signal: target.signal }, streams);
      }),
    attach: ({ streams, ...target }) =>
      stream(target, (connection) => {
        const url = urlOf(target.node, `${pathOf('attach', target)}?${commandQuery(streams, [])}`);
        return openCommand({ url, connection, signal: target.signal }, streams);
      }),
    portForward: ({ port, ...target }) =>
      stream(target, (connection) => {
        const url = urlOf(target.node, pathOf('portForward', target));
        return openPort({ url, connection, signal: target.signal }, port);
      }),
    async dial({ node, address, port, signal }) {
      const connection = await open(node, signal);
      try {
        return await connectThrough(connection, joinHost(address, port), signal);
      } catch (error) {
        // The proxy adds the address that it tried.
        throw isApiError(error, 'ServiceUnavailable') ? new Error(error.message, { cause: error }) : error;
      }
    },
    endpoint: (node, signal) => open(node, signal),
    async usage(node) {
      if (!addressOf(node)) return undefined;
      const timeout = new AbortController();
      const timer = clock.timer(USAGE_TIMEOUT_MS, () => timeout.abort());
      try {
        const { signal } = timeout;
        return usageOf(await jsonOf(await getFrom(await open(node, signal), '/stats/summary', signal)));
      } catch {
        return undefined;
      } finally {
        timer.cancel();
      }
    },
  };
}

function pathOf(root: string, { namespace, pod, container }: ContainerOf): string {
  return [root, namespace, pod, ...(container === undefined ? [] : [container])].map((part) => `/${part}`).join('');
}

function commandQuery({ stdin, stdout, stderr, tty }: CommandStreams, command: readonly string[]): string {
  const flags = { input: stdin, output: stdout, error: stderr, tty };
  const set = Object.entries(flags).flatMap(([name, isSet]) => (isSet ? [[name, '1']] : []));
  return new URLSearchParams([...set, ...command.map((word) => ['command', word])] as [string, string][]).toString();
}

function logQuery(
  selection: Omit<Parameters<NodeConnection['logs']>[0], 'node' | 'namespace' | 'pod' | 'container' | 'signal'>,
): string {
  const { follow, previous, timestamps, since, tailLines, limitBytes, stream } = selection;
  const query = new URLSearchParams();
  if (follow) query.set('follow', 'true');
  if (previous) query.set('previous', 'true');
  if (timestamps) query.set('timestamps', 'true');
  if (since !== undefined) query.set('sinceTime', new Date(since).toISOString());
  if (tailLines !== undefined) query.set('tailLines', String(tailLines));
  if (limitBytes !== undefined) query.set('limitBytes', String(limitBytes));
  if (stream !== undefined) query.set('stream', stream);
  return query.toString();
}

/** Converts errors for clients of exec, attach and port-forward. */
function streamError(error: unknown): Error {
  if (error instanceof DialError) {
    return new ApiError('InternalError', `error dialing backend: ${error.message}`, { cause: error });
  }
  if (error instanceof RefusedUpgrade) return agentError(error.code, error.message);
  return error as Error;
}

/** Yields the chunks of a response until the client disconnects. */
async function* chunksOf(response: IncomingMessage, signal: AbortSignal | undefined): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of response) yield chunk as Buffer;
  } catch (error) {
    if (!signal?.aborted) throw error;
  }
}

async function jsonOf(response: IncomingMessage): Promise<unknown> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of response) {
    length += part.length;
    if (length > MAX_SUMMARY_BYTES) throw new Error('the summary is too large');
    parts.push(part);
  }
  return JSON.parse(Buffer.concat(parts).toString('utf8'));
}

interface Summary {
  readonly node?: Stats;
  readonly pods?: readonly {
    readonly podRef?: { readonly name?: string; readonly namespace?: string };
    readonly containers?: readonly (Stats & { readonly name?: string })[];
  }[];
}

interface Stats {
  readonly cpu?: { readonly time?: string; readonly usageNanoCores?: number };
  readonly memory?: { readonly workingSetBytes?: number };
}

/** Measurement interval of agents: a summary does not contain the period of its rates. */
const WINDOW_MS = 10_000;

/** Parses a summary; undefined until the agent has measured twice. A pod needs all its containers measured. */
function usageOf(document: unknown): NodeUsage | undefined {
  const { node, pods = [] } = document as Summary;
  const measured = amountsOf(node);
  const time = Date.parse(node?.cpu?.time ?? '');
  if (!measured || Number.isNaN(time)) return undefined;
  return {
    time,
    window: WINDOW_MS,
    node: measured,
    pods: pods.flatMap(({ podRef, containers = [] }) => {
      const { name, namespace } = podRef ?? {};
      const known = containers.flatMap((each) => {
        const amounts = amountsOf(each);
        return amounts && each.name ? [{ name: each.name, ...amounts }] : [];
      });
      return name && namespace && known.length === containers.length ? [{ namespace, name, containers: known }] : [];
    }),
  };
}

function amountsOf(stats: Stats | undefined): { readonly cpu: number; readonly memory: number } | undefined {
  const [cpu, memory] = [stats?.cpu?.usageNanoCores, stats?.memory?.workingSetBytes];
  return cpu === undefined || memory === undefined ? undefined : { cpu, memory };
}
