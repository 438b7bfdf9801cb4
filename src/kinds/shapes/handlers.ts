/** What a probe or a lifecycle hook can do. */
import { s } from '../../schema/builders.ts';
import type { TypeOf } from '../../schema/schema.ts';

const HTTPHeader = s.object('HTTPHeader', { name: s.string({ zero: true }), value: s.string({ zero: true }) });

export const ExecAction = s.object('ExecAction', {
  command: s.list(s.string(), { required: true, description: 'Run in the container, not in a shell.' }),
});

export const HTTPGetAction = s.object('HTTPGetAction', {
  path: s.string({ default: '/' }),
  port: s.intOrString({ zero: true, description: 'A number, or the name of a container port.' }),
  host: s.string({ description: "The pod's own address, where absent." }),
  scheme: s.enum(['HTTP', 'HTTPS'], { default: 'HTTP' }),
  httpHeaders: s.list(HTTPHeader),
});
export type HTTPGetAction = TypeOf<typeof HTTPGetAction>;

export const TCPSocketAction = s.object('TCPSocketAction', {
  port: s.intOrString({ zero: true }),
  host: s.string(),
});

export const GRPCAction = s.object('GRPCAction', {
  port: s.int32({ zero: true }),
  service: s.string({ default: '' }),
});

export const SleepAction = s.object('SleepAction', { seconds: s.int64({ zero: true }) });
