/** Lifecycle hooks: actions right after a container has started and before it is stopped. */
import { s } from '../../../schema/builders.ts';
import type { ObjectType } from '../../../schema/schema.ts';
import { ExecAction, HTTPGetAction, oneHandler, SleepAction, TCPSocketAction } from './handlers.ts';

const LifecycleHandler = s.object(
  'LifecycleHandler',
  'Action that runs at a point in the life of a container. Exactly one of its fields must be set.',
  {
    exec: ExecAction,
    httpGet: HTTPGetAction,
    tcpSocket: s.use(
      TCPSocketAction,
      'Not supported as a lifecycle handler: such a hook always fails. Kept for compatibility.',
    ),
    sleep: SleepAction,
  },
  { rules: [oneHandler(['exec', 'httpGet', 'tcpSocket', 'sleep'])] },
);

const lifecycle = {
  postStart: s.use(
    LifecycleHandler,
    'Action that runs right after the container was created, concurrently with its entrypoint. If it fails, ' +
      'the container is killed and handled by its restart policy.',
  ),
  preStop: s.use(
    LifecycleHandler,
    'Action that runs before the container is stopped because of a deletion, a failed probe or the like; not ' +
      'when it exits by itself. The stop signal is sent after it has finished. It counts towards the grace ' +
      'period.',
  ),
  stopSignal: s.string(
    'Signal that stops the container, such as SIGUSR1. Defaults to the signal of the image, or SIGTERM. May ' +
      'only be set when spec.os.name is set.',
  ),
};
export type Lifecycle = ObjectType<typeof lifecycle>;

export const Lifecycle = s.object(
  'Lifecycle',
  'Actions that run after a container has started and before it is stopped, and the signal that stops it.',
  lifecycle,
);
