/** Opens doors: each kind of address is served by one part of the daemon. */
import type { Listening, ListenOn } from '../../base/sockets/listening.ts';
import type { DnsServer } from '../dns/server/dns-server.ts';
import type { IngressProxy } from '../ingress/proxy/proxy.ts';
import type { FrontServer } from '../userspace/front-server.ts';
import { keyOfFront } from '../userspace/fronts.ts';
import type { Door } from './calls.ts';

interface Parts {
  readonly dns: DnsServer;
  readonly ingress: IngressProxy;
  readonly fronts: FrontServer;
}

export function openDoor(
  { dns, ingress, fronts }: Parts,
  { kind, address, port }: Door,
  on: ListenOn,
): Promise<Listening> {
  switch (kind) {
    case 'dns-udp':
      return dns.listen('udp', on);
    case 'dns-tcp':
      return dns.listen('tcp', on);
    case 'dns-metrics':
      return dns.listen('metrics', on);
    case 'http':
    case 'https':
      return ingress.listen(kind, on);
    case 'front-tcp':
    case 'front-udp': {
      const protocol = kind === 'front-tcp' ? 'tcp' : 'udp';
      return fronts.listen(protocol, keyOfFront({ protocol, host: address, port }), on);
    }
  }
}
