/** The address of a node: that of the interface with the default route. */
import type { NetworkInterfaceInfo } from 'node:os';

type Interfaces = Readonly<Record<string, readonly NetworkInterfaceInfo[] | undefined>>;

const DEFAULT_DESTINATION = '00000000';

/** `routes` is the content of /proc/net/route. Falls back to any address, then to loopback. */
export function nodeAddress(routes: string, interfaces: Interfaces): string {
  const names = routes
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, destination]) => destination === DEFAULT_DESTINATION)
    .sort((a, b) => Number(a[6]) - Number(b[6]))
    .map(([name = '']) => name);
  const addresses = [...names, ...Object.keys(interfaces)]
    .flatMap((name) => interfaces[name] ?? [])
    .filter(({ internal }) => !internal);
  const found =
    addresses.find(({ family }) => family === 'IPv4') ?? addresses.find(({ address }) => !address.startsWith('fe80:'));
  return found?.address ?? '127.0.0.1';
}
