/** Actions of probes and lifecycle hooks. */
import { s } from '../../../schema/builders.ts';
import { forbidden, invalid, required } from '../../../schema/field-error.ts';
import { httpHeaderName } from '../../../schema/names.ts';
import type { Rule } from '../../../schema/schema.ts';
import { portNumberOrName } from '../meta/addresses/port.ts';

const HTTPHeader = s.object('HTTPHeader', 'A header of an HTTP request.', {
  name: s.string('Name of the header. Repeated names send the header several times.', { zero: true }),
  value: s.string('Value of the header.', { zero: true }),
});

const port = s.intOrString('Port to connect to: a number from 1 to 65535, or the name of a container port.', {
  zero: true,
  rules: [portNumberOrName],
});

export const ExecAction = s.object('ExecAction', 'Runs a command in the container. Exit code 0 means success.', {
  command: s.list(
    s.string(),
    'Command and its arguments. It is not run in a shell; to use shell syntax, call a shell explicitly.',
    { required: true },
  ),
});

export const HTTPGetAction = s.object(
  'HTTPGetAction',
  'Sends an HTTP GET request. A status code from 200 to 399 means success.',
  {
    path: s.string('Path of the request. Defaults to /.', { default: '/' }),
    port,
    host: s.string(
      'Host to connect to. Defaults to the IP address of the pod. To set the host name of the request, use a ' +
        'Host header in httpHeaders instead.',
      { omitZero: true },
    ),
    scheme: s.enum(
      ['HTTP', 'HTTPS'],
      'Protocol of the request: HTTP or HTTPS, whose certificate is not verified. Defaults to HTTP.',
      { default: 'HTTP' },
    ),
    httpHeaders: s.list(HTTPHeader, 'Additional headers of the request.', {
      rules: [
        (headers: readonly { name: string }[]) =>
          headers.flatMap(({ name }) => httpHeaderName(name).map((complaint) => invalid('', name, complaint))),
      ],
    }),
  },
);

export const TCPSocketAction = s.object(
  'TCPSocketAction',
  'Opens a TCP connection. It succeeds if the connection can be established.',
  {
    port,
    host: s.string('Host to connect to. Defaults to the IP address of the pod.', { omitZero: true }),
  },
);

export const GRPCAction = s.object(
  'GRPCAction',
  'Calls the gRPC health checking service. It succeeds if the service reports SERVING.',
  {
    port: s.int32('Port number of the gRPC service, from 1 to 65535.', { zero: true, rules: [portNumberOrName] }),
    service: s.string(
      'Name of the service in the health check request. Empty, the default, asks for the server as a whole.',
      { default: '' },
    ),
  },
);

export const SleepAction = s.object('SleepAction', 'Waits for some seconds.', {
  seconds: s.int64('Seconds to wait. Must not exceed terminationGracePeriodSeconds.', { zero: true }),
});

/** Exactly one of the named fields is set. */
export function oneHandler(handlers: readonly string[]): Rule<Readonly<Record<string, unknown>>> {
  return (value) => {
    const set = handlers.filter((handler) => value[handler] !== undefined);
    if (set.length === 0) return required('', 'must specify a handler type');
    return set.slice(1).map((handler) => forbidden(handler, 'may not specify more than 1 handler type'));
  };
}
