/** Connects to a TCP port. */
import { joinHost, socketFailure } from '../../base/sockets/dial/dial-error.ts';
import type { Clock } from '../../base/time/clock.ts';
import type { Destination } from './dialing.ts';
import { failure, type ProbeOutcome, SUCCESS } from './outcome.ts';

export interface TcpTarget extends Destination {
  readonly port: number;
}

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
