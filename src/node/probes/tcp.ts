/** Connects to a TCP port. */
import { connect } from 'node:net';
import { joinHost, socketFailure } from '../../base/dial/dial-error.ts';
import type { Clock } from '../../base/time/clock.ts';
import { failure, type Outcome, SUCCESS } from './outcome.ts';

export function checkTcp(host: string, port: number, timeoutMs: number, clock: Clock): Promise<Outcome> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const end = (outcome: Outcome) => {
      timer.cancel();
      socket.destroy();
      resolve(outcome);
    };
    const timer = clock.timer(timeoutMs, () => end(failure(`dial tcp ${joinHost(host, port)}: i/o timeout`)));
    socket.once('connect', () => end(SUCCESS));
    socket.on('error', (error) => end(failure(socketFailure(error, host, port))));
  });
}
