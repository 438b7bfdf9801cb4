/** Health checks of containers. */
import { s } from '../../../schema/builders.ts';
import { invalid } from '../../../schema/field-error.ts';
import type { ObjectType } from '../../../schema/schema.ts';
import { ExecAction, GRPCAction, HTTPGetAction, oneHandler, TCPSocketAction } from './handlers.ts';

/** Options of a number; 0 means the default. */
const number = { min: 0, omitZero: true } as const;

const probe = {
  exec: ExecAction,
  httpGet: HTTPGetAction,
  tcpSocket: TCPSocketAction,
  grpc: GRPCAction,
  initialDelaySeconds: s.int32('Seconds after the start of the container before the first probe. Defaults to 0.', {
    ...number,
  }),
  timeoutSeconds: s.int32('Seconds after which a probe fails if there is no answer. Defaults to 1.', {
    ...number,
    default: 1,
  }),
  periodSeconds: s.int32('Seconds between probes. Defaults to 10.', { ...number, default: 10 }),
  successThreshold: s.int32(
    'Consecutive successes that turn a failed check into a successful one. Defaults to 1; must be 1 for ' +
      'liveness and startup probes.',
    { ...number, default: 1 },
  ),
  failureThreshold: s.int32('Consecutive failures after which the check counts as failed. Defaults to 3.', {
    ...number,
    default: 3,
  }),
  terminationGracePeriodSeconds: s.int64(
    'Grace period in seconds when this probe causes the container to be stopped. Defaults to that of the ' +
      'pod. Must be positive; not allowed for readiness probes.',
    { rules: [(seconds: number) => (seconds <= 0 ? invalid('', seconds, 'must be greater than 0') : undefined)] },
  ),
};
type Probe = ObjectType<typeof probe>;

const Probe = s.object(
  'Probe',
  'Health check that is repeated while a container runs. Exactly one of exec, httpGet, tcpSocket and grpc ' +
    'must be set.',
  probe,
  { rules: [oneHandler(['exec', 'httpGet', 'tcpSocket', 'grpc'])] },
);

const succeedsAtOnce = ({ successThreshold }: Probe) =>
  successThreshold === 1 ? undefined : invalid('successThreshold', successThreshold, 'must be 1');

const endsNothing = ({ terminationGracePeriodSeconds: seconds }: Probe) =>
  seconds === undefined
    ? undefined
    : invalid('terminationGracePeriodSeconds', seconds, 'must not be set for readinessProbes');

export const LivenessProbe = s.use(
  Probe,
  'Health check of the running container. When it fails, the container is stopped and handled by its ' +
    'restart policy.',
  { rules: [succeedsAtOnce] },
);

export const ReadinessProbe = s.use(
  Probe,
  'Check whether the container can serve requests. While it fails, the pod is not ready and receives no ' +
    'traffic from services.',
  { rules: [endsNothing] },
);

export const StartupProbe = s.use(
  Probe,
  'Check whether the container has finished starting. Until it succeeds, no other probe runs; if it fails, ' +
    'the container is restarted.',
  { rules: [succeedsAtOnce] },
);
