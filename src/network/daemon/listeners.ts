/** Opens doors: each kind of address is served by one part of the daemon. */
import type { Listening, ListenOn } from '../../base/listening.ts';
import type { DnsServer } from '../dns/server/dns-server.ts';
import type { IngressProxy } from '../ingress/proxy.ts';
import type { DoorKind } from './calls.ts';

interface Parts {
  readonly dns: DnsServer;
  readonly ingress: IngressProxy;
}

export function openDoor({ dns, ingress }: Parts, kind: DoorKind, on: ListenOn): Promise<Listening> {
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
  }
}
