/** What a probe or a lifecycle hook can do. */
import { s } from '../../../schema/builders.ts';
import { forbidden, invalid, required } from '../../../schema/field-error.ts';
import { httpHeaderName } from '../../../schema/names.ts';
import type { Rule } from '../../../schema/schema.ts';
import { portNumberOrName } from '../meta/port.ts';

const HTTPHeader = s.object('HTTPHeader', { name: s.string({ zero: true }), value: s.string({ zero: true }) });

const port = s.intOrString({
  zero: true,
  description: 'A number, or the name of a container port.',
  rules: [portNumberOrName],
});

export const ExecAction = s.object('ExecAction', {
  command: s.list(s.string(), { required: true, description: 'Run in the container, not in a shell.' }),
});

export const HTTPGetAction = s.object('HTTPGetAction', {
  path: s.string({ default: '/' }),
  port,
  host: s.string({ omitZero: true, description: "The pod's own address, where absent." }),
  scheme: s.enum(['HTTP', 'HTTPS'], { default: 'HTTP' }),
  httpHeaders: s.list(HTTPHeader, {
    rules: [
      (headers: readonly { name: string }[]) =>
        headers.flatMap(({ name }) => httpHeaderName(name).map((complaint) => invalid('', name, complaint))),
    ],
  }),
});

export const TCPSocketAction = s.object('TCPSocketAction', { port, host: s.string({ omitZero: true }) });

export const GRPCAction = s.object('GRPCAction', {
  port: s.int32({ zero: true, rules: [portNumberOrName] }),
  service: s.string({ default: '' }),
});

export const SleepAction = s.object('SleepAction', { seconds: s.int64({ zero: true }) });

/** Exactly one of the named fields is set. */
export function oneHandler(handlers: readonly string[]): Rule<Readonly<Record<string, unknown>>> {
  return (value) => {
    const set = handlers.filter((handler) => value[handler] !== undefined);
    if (set.length === 0) return required('', 'must specify a handler type');
    return set.slice(1).map((handler) => forbidden(handler, 'may not specify more than 1 handler type'));
  };
}
