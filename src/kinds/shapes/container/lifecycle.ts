/** What happens right after a container starts and before it is stopped. */
import { s } from '../../../schema/builders.ts';
import type { ObjectType } from '../../../schema/schema.ts';
import { ExecAction, HTTPGetAction, oneHandler, SleepAction, TCPSocketAction } from './handlers.ts';

const LifecycleHandler = s.object(
  'LifecycleHandler',
  { exec: ExecAction, httpGet: HTTPGetAction, tcpSocket: TCPSocketAction, sleep: SleepAction },
  { rules: [oneHandler(['exec', 'httpGet', 'tcpSocket', 'sleep'])] },
);

const lifecycle = { postStart: LifecycleHandler, preStop: LifecycleHandler, stopSignal: s.string() };
export type Lifecycle = ObjectType<typeof lifecycle>;

export const Lifecycle = s.object('Lifecycle', lifecycle);
