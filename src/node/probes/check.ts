/** Performs one check of a container. */
import { joinHost, socketFailure } from '../../base/sockets/dial/dial-error.ts';
import type { Clock } from '../../base/time/clock.ts';
import type { SeenContainer } from '../pod/container-run.ts';
import type { Containers } from '../runtime/runtime.ts';
import { type Destination, destinationOf, type ProbedPod } from './dialing.ts';
import { checkExec } from './exec.ts';
import { checkGrpc } from './grpc.ts';
import { checkHttp, type HttpTarget } from './http.ts';
import { failure, type ProbeOutcome, SUCCESS } from './outcome.ts';
import { portOf } from './port.ts';
import { type ProbeTiming, timeoutOf } from './schedule.ts';

export type Probe = NonNullable<Extract<SeenContainer, { readonly livenessProbe?: unknown }>['livenessProbe']>;

/** Dependencies of a check, besides the probe. */
export interface CheckTarget extends ProbedPod {
  readonly runtime: Pick<Containers, 'run'>;
  readonly clock: Clock;
  /** The running container. */
  readonly id: string;
  readonly container: SeenContainer;
  /** For HTTP and gRPC: `kube-probe/1.36`. */
  readonly userAgent: string;
}

/** Never rejects. */
export async function check(probe: Probe & ProbeTiming, target: CheckTarget): Promise<ProbeOutcome> {
  try {
    return await perform(probe, target);
  } catch (error) {
    return { type: 'error', message: (error as Error).message };
  }
}

function perform(probe: Probe & ProbeTiming, target: CheckTarget): Promise<ProbeOutcome> {
  const { exec, httpGet, tcpSocket, grpc } = probe;
  const { clock, userAgent } = target;
  const timeoutMs = timeoutOf(probe);
  if (exec) return checkExec(target.runtime, target.id, { command: exec.command ?? [], timeoutMs });
  if (httpGet) return checkHttp(httpTarget(httpGet, target), timeoutMs, clock);
  if (tcpSocket) {
    const port = portOf(tcpSocket.port, target.container);
    return checkTcp({ ...destinationOf(tcpSocket.host, target), port }, timeoutMs, clock);
  }
  if (grpc) {
    const { port, service = '' } = grpc;
    return checkGrpc({ host: target.address, port, service, userAgent }, timeoutMs, clock);
  }
  throw new Error(`missing probe handler for ${target.container.name}`);
}

type HttpGet = NonNullable<Probe['httpGet']>;

export function httpTarget(
  { scheme = 'HTTP', host, port, path = '/', httpHeaders = [] }: HttpGet,
  target: Pick<CheckTarget, 'container' | 'userAgent' | keyof ProbedPod>,
): HttpTarget {
  const { container, userAgent } = target;
  const { host: at, guard, allowance } = destinationOf(host, target);
  const url = new URL(`${scheme.toLowerCase()}://${at.includes(':') ? `[${at}]` : at}:${portOf(port, container)}`);
  // The path may have a query.
  const full = new URL(path.startsWith('/') ? path : `/${path}`, url);
  return { url: full, headers: httpHeaders, userAgent, guard, allowance };
}

interface TcpTarget extends Destination {
  readonly port: number;
}

/** Connects to a TCP port. */
export async function checkTcp(target: TcpTarget, timeoutMs: number, clock: Clock): Promise<ProbeOutcome> {
  const { host, port, guard, allowance } = target;
  const limit = new AbortController();
  const timer = clock.timer(timeoutMs, () => limit.abort());
  try {
    const socket = await guard.connect({ host, port, signal: limit.signal }, allowance);
    socket.on('error', () => undefined);
    socket.destroy();
    return SUCCESS;
  } catch (error) {
    if (limit.signal.aborted) return failure(`dial tcp ${joinHost(host, port)}: i/o timeout`);
    return failure(socketFailure(error as Error, host, port));
  } finally {
    timer.cancel();
  }
}
