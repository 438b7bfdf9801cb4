import { s } from '../../schema/builders.ts';
import type { TypeOf } from '../../schema/schema.ts';
import { ExecAction, HTTPGetAction, SleepAction, TCPSocketAction } from './handlers.ts';

const LifecycleHandler = s.object('LifecycleHandler', {
  exec: ExecAction,
  httpGet: HTTPGetAction,
  tcpSocket: TCPSocketAction,
  sleep: SleepAction,
});
export type LifecycleHandler = TypeOf<typeof LifecycleHandler>;

/** What happens right after a container starts and before it is stopped. */
export const Lifecycle = s.object('Lifecycle', {
  postStart: LifecycleHandler,
  preStop: LifecycleHandler,
  stopSignal: s.string(),
});
export type Lifecycle = TypeOf<typeof Lifecycle>;
