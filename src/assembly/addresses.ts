/** The addresses and names of the server. */
import { hostname, networkInterfaces } from 'node:os';
import type { ApiAddress, OpenPort } from './context.ts';

/** Where the API is served without TLS. */
export const INSECURE_HOST = '127.0.0.1';

const UNSPECIFIED = ['0.0.0.0', '::'];

export function isLoopback(address: string): boolean {
  return address === '::1' || address.startsWith('127.');
}

/** The first address of a service range, which belongs to the service `kubernetes`; or the one at another index. */
export function serviceAddress(range: string): string;
export function serviceAddress(range: string, index: number): string | undefined;
export function serviceAddress(range: string, index = 1): string | undefined {
  const [base = '', bits] = range.split('/');
  const [a, b, c, d = 0] = base.split('.').map(Number);
  // The last address of a range is not used.
  return index < 2 ** (32 - Number(bits)) - 1 ? `${a}.${b}.${c}.${d + index}` : undefined;
}

/** The names and addresses in the serving certificate. */
export function servingNames(api: Omit<ApiAddress, 'port'>): string[] {
  const { bindAddress, serviceClusterIpRange, clusterDomain, tlsSan, forPods } = api;
  const names = [
    ...['localhost', '127.0.0.1', '::1', hostname(), serviceAddress(serviceClusterIpRange)],
    ...['kubernetes', 'kubernetes.default', 'kubernetes.default.svc', `kubernetes.default.svc.${clusterDomain}`],
    ...(UNSPECIFIED.includes(bindAddress) ? externalAddresses() : [bindAddress]),
    ...(forPods ? [addressForPods(bindAddress) ?? ''] : []),
    ...tlsSan,
  ];
  return [...new Set(names)].filter((name) => name !== '');
}

/**
 * The address in the endpoints of the service `kubernetes`. Loopback addresses are not allowed there: in their stead it is
 * the first other address of this machine, or, when there is none, the service's own.
 */
export function advertisedAddress(bindAddress: string, serviceRange: string): string {
  const isExternal = !UNSPECIFIED.includes(bindAddress) && !isLoopback(bindAddress);
  return isExternal ? bindAddress : (externalAddresses()[0] ?? serviceAddress(serviceRange));
}

/**
 * The address besides `--bind-address` that the server listens on, so that pods with a network of their own reach it;
 * undefined: none is needed, or this machine has none but loopback addresses.
 */
export function addressForPods(bindAddress: string): string | undefined {
  return isLoopback(bindAddress) ? externalAddresses()[0] : undefined;
}

/**
 * The address under which other machines reach the server; a loopback address when it listens on loopback only. `forPods`: it
 * also listens where pods with a network of their own reach it.
 */
export function reachableAddress(bindAddress: string, serviceRange: string, forPods = false): string {
  if (UNSPECIFIED.includes(bindAddress)) return advertisedAddress(bindAddress, serviceRange);
  return (forPods ? addressForPods(bindAddress) : undefined) ?? bindAddress;
}

/** The URL under which a client on this machine reaches a listener. */
export function serverUrl(host: string, port: number): string {
  if (host === '0.0.0.0') return `https://127.0.0.1:${port}`;
  if (host === '::') return `https://[::1]:${port}`;
  return `https://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Where the API is listened on. */
export function apiPorts({ bindAddress, port, forPods }: ApiAddress): readonly [OpenPort, ...OpenPort[]] {
  const address = forPods ? addressForPods(bindAddress) : undefined;
  const main = { address: bindAddress, port, what: 'API' };
  return address === undefined ? [main] : [main, { address, port, what: 'API, for pods' }];
}

/** The URL under which other machines and pods reach the server. */
export function urlOf({ bindAddress, port, serviceClusterIpRange, forPods }: ApiAddress): string {
  return serverUrl(reachableAddress(bindAddress, serviceClusterIpRange, forPods), port);
}

/** All addresses of this machine but loopback ones. */
export function machineAddresses(): string[] {
  const all = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  return all.filter(({ internal }) => !internal).map(({ address }) => address);
}

/** Bridges and interfaces of pods, which come and go. */
const OF_PODS = /^(qd|veth|cni|docker|br-)/;

/** Non-loopback addresses of this machine, IPv4 first, without link-local ones and those of pods. */
function externalAddresses(): string[] {
  const all = Object.entries(networkInterfaces()).flatMap(([name, list]) => (OF_PODS.test(name) ? [] : (list ?? [])));
  const usable = all.filter(({ internal, address }) => !internal && !/^(169\.254\.|fe80:)/i.test(address));
  return [...usable.filter(({ family }) => family === 'IPv4'), ...usable.filter(({ family }) => family === 'IPv6')].map(
    ({ address }) => address,
  );
}
