/** Asks a server for its health by the protocol `grpc.health.v1.Health`. */

import { joinHost } from '../../base/sockets/dial/dial-error.ts';
import type { Clock } from '../../base/time/clock.ts';
import type { Method } from '../../protocols/grpc/call.ts';
import { GrpcClient } from '../../protocols/grpc/client.ts';
import { type GrpcError, GrpcStatus } from '../../protocols/grpc/status.ts';
import { ProtoReader } from '../../protocols/protobuf/reader.ts';
import { ProtoWriter } from '../../protocols/protobuf/writer.ts';
import { formatDuration } from '../pod/duration.ts';
import { failure, type ProbeOutcome, SUCCESS } from './outcome.ts';

export interface GrpcTarget {
  readonly host: string;
  readonly port: number;
  readonly service: string;
  readonly userAgent: string;
}

const SERVING = 1;
const STATUS_NAMES = ['UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN'];
const REQUEST_BYTES = 256;

export async function checkGrpc(target: GrpcTarget, timeoutMs: number, clock: Clock): Promise<ProbeOutcome> {
  const address = joinHost(target.host, target.port);
  const limit = new AbortController();
  const timer = clock.timer(timeoutMs, () => limit.abort());
  let client: GrpcClient | undefined;
  try {
    client = await GrpcClient.connect({ url: new URL(`http://${address}`), clock, signal: limit.signal });
    return await ask(client, target, limit.signal, timeoutMs);
  } catch (error) {
    if (limit.signal.aborted)
      return failure(`timeout: failed to connect service "${address}" within ${formatDuration(timeoutMs)}`);
    return failure(`error: failed to connect service at "${address}": ${(error as Error).message}`);
  } finally {
    timer.cancel();
    client?.close();
  }
}

function ask(client: GrpcClient, target: GrpcTarget, signal: AbortSignal, timeoutMs: number): Promise<ProbeOutcome> {
  return new Promise((resolve) => {
    const method = healthCheck(target.userAgent);
    const call = client.unary(method, target.service, (error, status) => {
      if (error) resolve(failure(describe(error)));
      else if (status === SERVING) resolve(SUCCESS);
      else resolve(failure(`service unhealthy (responded with "${STATUS_NAMES[status ?? 0] ?? status}")`));
    });
    const giveUp = () => {
      call.cancel();
      resolve(failure(`timeout: health rpc did not complete within ${formatDuration(timeoutMs)}`));
    };
    if (signal.aborted) giveUp();
    else signal.addEventListener('abort', giveUp, { once: true });
  });
}

function describe({ code, message }: GrpcError): string {
  if (code !== GrpcStatus.UNIMPLEMENTED) return `error: health rpc probe failed: ${message}`;
  return `error: this server does not implement the grpc health protocol (grpc.health.v1.Health): ${message}`;
}

function healthCheck(userAgent: string): Method<string, number> {
  return {
    path: '/grpc.health.v1.Health/Check',
    metadata: { 'user-agent': userAgent },
    encode(service) {
      const writer = new ProtoWriter(REQUEST_BYTES);
      if (service !== '') writer.string(1, service);
      return writer.finish();
    },
    decode(message) {
      const reader = new ProtoReader(message);
      let status = 0;
      for (let field = reader.next(); field !== 0; field = reader.next()) {
        if (field === 1) status = reader.number();
        else reader.skip();
      }
      return status;
    },
  };
}
