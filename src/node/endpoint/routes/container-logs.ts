import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { badRequest } from '../../../api/errors.ts';
import type { Clock } from '../../../base/time/clock.ts';
import type { ContainerLogRequest } from '../../logs/container-log.ts';
import type { ContainerName, PodStreams } from '../pod-streams.ts';

const STREAMS = ['Stdout', 'Stderr'] as const;

/** Sends the log of a container as it is read, no faster than the client takes it. */
export async function sendContainerLogs(
  response: ServerResponse,
  request: ContainerLogRequest,
  streams: PodStreams,
): Promise<void> {
  const pieces = await streams.logs(request);
  response.writeHead(200, { 'Content-Type': 'text/plain' });
  // Who follows a silent container learns that it is followed.
  response.flushHeaders();
  // A client that leaves ends the reading.
  await pipeline(Readable.from(pieces), response).catch(() => undefined);
}

/** Reads the parameters of a log request. Throws a BadRequest. */
export function logRequestOf(
  target: ContainerName,
  query: URLSearchParams,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): ContainerLogRequest {
  const isSet = (name: string) => ['true', '1'].includes(query.get(name) ?? '');
  const stream = query.get('stream') ?? 'All';
  const tail = query.get('tail') ?? undefined;
  if (stream !== 'All' && !STREAMS.some((each) => each === stream)) throw badRequest(`invalid stream type "${stream}"`);
  return {
    namespace: target.namespace,
    pod: target.pod,
    container: target.container,
    signal,
    follow: isSet('follow'),
    previous: isSet('previous'),
    timestamps: isSet('timestamps'),
    tailLines: tail !== undefined && tail !== 'all' ? integer('tail', tail) : integerIn(query, 'tailLines'),
    limitBytes: integerIn(query, 'limitBytes'),
    since: sinceOf(query, clock.now()),
    stream: STREAMS.find((each) => each === stream),
  };
}

function sinceOf(query: URLSearchParams, now: number): number | undefined {
  const seconds = integerIn(query, 'sinceSeconds');
  if (seconds !== undefined) return now - seconds * 1000;
  const text = query.get('sinceTime');
  if (!text) return undefined;
  const time = Date.parse(text);
  if (Number.isNaN(time)) throw badRequest('Unable to decode query.');
  return time;
}

function integerIn(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  return text === null ? undefined : integer(name, text);
}

function integer(name: string, text: string): number {
  const value = Number(text);
  if (text === '' || !Number.isSafeInteger(value) || (value < 0 && name !== 'sinceSeconds')) {
    throw badRequest('Unable to decode query.');
  }
  return value;
}
