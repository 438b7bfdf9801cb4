/** Actions of probes and lifecycle hooks. */
import { s } from '../../../schema/builders.ts';
import { forbidden, invalid, required } from '../../../schema/field-error.ts';
import { httpHeaderName } from '../../../schema/names.ts';
import type { Rule } from '../../../schema/schema.ts';
import { portNumberOrName } from '../meta/addresses/port.ts';

const HTTPHeader = s.object(
  'HTTPHeader',
  {
    name: s.string({ zero: true, description: 'Name of the header. Repeated names send the header several times.' }),
    value: s.string({ zero: true, description: 'Value of the header.' }),
  },
  { description: 'A header of an HTTP request.' },
);

const port = s.intOrString({
  zero: true,
  description: 'Port to connect to: a number from 1 to 65535, or the name of a container port.',
  rules: [portNumberOrName],
});

export const ExecAction = s.object(
  'ExecAction',
  {
    command: s.list(s.string(), {
      required: true,
      description: 'Command and its arguments. It is not run in a shell; to use shell syntax, call a shell explicitly.',
    }),
  },
  { description: 'Runs a command in the container. Exit code 0 means success.' },
);

export const HTTPGetAction = s.object(
  'HTTPGetAction',
  {
    path: s.string({ default: '/', description: 'Path of the request. Defaults to /.' }),
    port,
    host: s.string({
      omitZero: true,
      description:
        'Host to connect to. Defaults to the IP address of the pod. To set the host name of the request, use a ' +
        'Host header in httpHeaders instead.',
    }),
    scheme: s.enum(['HTTP', 'HTTPS'], {
      default: 'HTTP',
      description: 'Protocol of the request: HTTP or HTTPS, whose certificate is not verified. Defaults to HTTP.',
    }),
    httpHeaders: s.list(HTTPHeader, {
      description: 'Additional headers of the request.',
      rules: [
        (headers: readonly { name: string }[]) =>
          headers.flatMap(({ name }) => httpHeaderName(name).map((complaint) => invalid('', name, complaint))),
      ],
    }),
  },
  { description: 'Sends an HTTP GET request. A status code from 200 to 399 means success.' },
);

export const TCPSocketAction = s.object(
  'TCPSocketAction',
  {
    port,
    host: s.string({ omitZero: true, description: 'Host to connect to. Defaults to the IP address of the pod.' }),
  },
  { description: 'Opens a TCP connection. It succeeds if the connection can be established.' },
);

export const GRPCAction = s.object(
  'GRPCAction',
  {
    port: s.int32({
      zero: true,
      description: 'Port number of the gRPC service, from 1 to 65535.',
      rules: [portNumberOrName],
    }),
    service: s.string({
      default: '',
      description:
        'Name of the service in the health check request. Empty, the default, asks for the server as a whole.',
    }),
  },
  { description: 'Calls the gRPC health checking service. It succeeds if the service reports SERVING.' },
);

export const SleepAction = s.object(
  'SleepAction',
  { seconds: s.int64({ zero: true, description: 'Seconds to wait. Must not exceed terminationGracePeriodSeconds.' }) },
  { description: 'Waits for some seconds.' },
);

/** Exactly one of the named fields is set. */
export function oneHandler(handlers: readonly string[]): Rule<Readonly<Record<string, unknown>>> {
  return (value) => {
    const set = handlers.filter((handler) => value[handler] !== undefined);
    if (set.length === 0) return required('', 'must specify a handler type');
    return set.slice(1).map((handler) => forbidden(handler, 'may not specify more than 1 handler type'));
  };
}
