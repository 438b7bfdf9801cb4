/** Which addresses and names a server on this machine goes by. */
import { hostname, networkInterfaces } from 'node:os';

const EVERY = ['0.0.0.0', '::'];

/** The first address of a range: the one of the service `kubernetes`. */
export function serviceAddress(range: string): string {
  const [base = ''] = range.split('/');
  const [a, b, c, d = 0] = base.split('.').map(Number);
  return `${a}.${b}.${c}.${d + 1}`;
}

/** What the serving certificate names. */
export function servingNames(bindAddress: string, serviceRange: string): string[] {
  const names = [
    ...['localhost', '127.0.0.1', '::1', hostname(), serviceAddress(serviceRange)],
    ...['kubernetes', 'kubernetes.default', 'kubernetes.default.svc', 'kubernetes.default.svc.cluster.local'],
    ...(EVERY.includes(bindAddress) ? outsideAddresses() : [bindAddress]),
  ];
  return [...new Set(names)].filter((name) => name !== '');
}

/**
 * Where others reach the server, for the endpoints of the service `kubernetes`. A loopback address may not stand there:
 * then it is this machine's first other address, or, on a machine that has none, the service's own.
 */
export function advertisedAddress(bindAddress: string, serviceRange: string): string {
  const isOutside = !EVERY.includes(bindAddress) && bindAddress !== '::1' && !bindAddress.startsWith('127.');
  return isOutside ? bindAddress : (outsideAddresses()[0] ?? serviceAddress(serviceRange));
}

/** Where machines reach the server, if they can: one that listens on loopback alone is not for others. */
export function reachableAddress(bindAddress: string, serviceRange: string): string {
  return EVERY.includes(bindAddress) ? advertisedAddress(bindAddress, serviceRange) : bindAddress;
}

/** IPv4 first. Link-local addresses are left out: they mean something on their link alone. */
function outsideAddresses(): string[] {
  const all = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  const usable = all.filter(({ internal, address }) => !internal && !/^(169\.254\.|fe80:)/i.test(address));
  return [...usable.filter(({ family }) => family === 'IPv4'), ...usable.filter(({ family }) => family === 'IPv6')].map(
    ({ address }) => address,
  );
}
