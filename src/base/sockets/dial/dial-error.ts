/** Connection errors in the format of Go, which Kubernetes passes on. */
import { isIPv6 } from 'node:net';

export const joinHost = (host: string, port: number | string) =>
  isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`;

const MESSAGES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connect: connection refused',
  EHOSTUNREACH: 'connect: no route to host',
  ENETUNREACH: 'connect: network is unreachable',
  ETIMEDOUT: 'i/o timeout',
  EADDRNOTAVAIL: 'connect: cannot assign requested address',
};

/** `dial tcp 10.0.0.1:80: connect: connection refused`. */
export function socketFailure(error: Error, host: string, port: number): string {
  const { code = '' } = error as NodeJS.ErrnoException;
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `dial tcp: lookup ${host}: no such host`;
  return `dial tcp ${joinHost(host, port)}: ${MESSAGES[code] ?? error.message}`;
}
