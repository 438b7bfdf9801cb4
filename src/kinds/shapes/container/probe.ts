/** A check that is made again and again while a container runs. */
import { s } from '../../../schema/builders.ts';
import { invalid } from '../../../schema/field-error.ts';
import type { ObjectType } from '../../../schema/schema.ts';
import { ExecAction, GRPCAction, HTTPGetAction, oneHandler, TCPSocketAction } from './handlers.ts';

/** 0 stands for the default. */
const number = { min: 0, omitZero: true } as const;

const probe = {
  exec: ExecAction,
  httpGet: HTTPGetAction,
  tcpSocket: TCPSocketAction,
  grpc: GRPCAction,
  initialDelaySeconds: s.int32(number),
  timeoutSeconds: s.int32({ ...number, default: 1 }),
  periodSeconds: s.int32({ ...number, default: 10 }),
  successThreshold: s.int32({ ...number, default: 1 }),
  failureThreshold: s.int32({ ...number, default: 3 }),
  terminationGracePeriodSeconds: s.int64({
    rules: [(seconds: number) => (seconds <= 0 ? invalid('', seconds, 'must be greater than 0') : undefined)],
  }),
};
type Probe = ObjectType<typeof probe>;

const Probe = s.object('Probe', probe, { rules: [oneHandler(['exec', 'httpGet', 'tcpSocket', 'grpc'])] });

const succeedsAtOnce = ({ successThreshold }: Probe) =>
  successThreshold === 1 ? undefined : invalid('successThreshold', successThreshold, 'must be 1');

const endsNothing = ({ terminationGracePeriodSeconds: seconds }: Probe) =>
  seconds === undefined
    ? undefined
    : invalid('terminationGracePeriodSeconds', seconds, 'must not be set for readinessProbes');

export const LivenessProbe = s.use(Probe, {
  description: 'When it fails, the container is restarted.',
  rules: [succeedsAtOnce],
});

export const ReadinessProbe = s.use(Probe, {
  description: 'While it fails, services send nothing to the pod.',
  rules: [endsNothing],
});

export const StartupProbe = s.use(Probe, {
  description: 'Until it succeeds, the other probes wait.',
  rules: [succeedsAtOnce],
});
