import { s } from '../../schema/builders.ts';
import type { TypeOf } from '../../schema/schema.ts';
import { ExecAction, GRPCAction, HTTPGetAction, TCPSocketAction } from './handlers.ts';

/** A check that is made again and again while the container runs. */
export const Probe = s.object('Probe', {
  exec: ExecAction,
  httpGet: HTTPGetAction,
  tcpSocket: TCPSocketAction,
  grpc: GRPCAction,
  initialDelaySeconds: s.int32({ min: 0 }),
  timeoutSeconds: s.int32({ min: 0, default: 1 }),
  periodSeconds: s.int32({ min: 0, default: 10 }),
  successThreshold: s.int32({ min: 0, default: 1 }),
  failureThreshold: s.int32({ min: 0, default: 3 }),
  terminationGracePeriodSeconds: s.int64(),
});
export type Probe = TypeOf<typeof Probe>;
