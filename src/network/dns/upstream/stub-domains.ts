/**
 * Name servers for names outside of the cluster, as the ConfigMap `kube-system/kube-dns` of Kubernetes' clusters
 * configures them: for domains (`stubDomains`), and for all else (`upstreamNameservers`). Pure.
 */
import { isIP } from 'node:net';
import { nameFrom } from '../../../protocols/dns-message/name.ts';
import type { Server } from './exchange.ts';

export interface Upstreams {
  readonly stubs: readonly StubDomain[];
  /** Instead of those of the host; empty: those of the host. */
  readonly servers: readonly Server[];
}

interface StubDomain {
  /** `acme.test` */
  readonly domain: string;
  readonly servers: readonly Server[];
}

export const NO_UPSTREAMS: Upstreams = { stubs: [], servers: [] };

const DNS_PORT = 53;

/** Entries that cannot be used are left out: names of servers, in place of addresses, among them. */
export function parseUpstreams(data: Readonly<Record<string, string>> | undefined): Upstreams {
  const { stubDomains, upstreamNameservers } = data ?? {};
  const domains = parsed(stubDomains);
  const stubs = Object.entries(isRecord(domains) ? domains : {}).flatMap(([text, addresses]) => {
    const domain = nameFrom(text);
    const servers = serversOf(addresses);
    return domain && servers.length > 0 ? [{ domain, servers }] : [];
  });
  return { stubs, servers: serversOf(parsed(upstreamNameservers)) };
}

/** The servers for a name: those of the longest domain that it is in; undefined when the host's are asked. */
export function serversFor({ stubs, servers }: Upstreams, name: string): readonly Server[] | undefined {
  let best: StubDomain | undefined;
  for (const stub of stubs) {
    const { domain } = stub;
    const isInside = name === domain || name.endsWith(`.${domain}`);
    if (isInside && domain.length > (best?.domain.length ?? 0)) best = stub;
  }
  return best?.servers ?? (servers.length > 0 ? servers : undefined);
}

function serversOf(addresses: unknown): readonly Server[] {
  if (!Array.isArray(addresses)) return [];
  return addresses.flatMap((text) => (typeof text === 'string' ? serverOf(text.trim()) : []));
}

/** An address, with or without a port: `192.0.2.1`, `192.0.2.1:5353`, `2001:db8::1`, `[2001:db8::1]:5353`. */
function serverOf(text: string): readonly Server[] {
  if (isIP(text)) return [{ address: text, port: DNS_PORT }];
  const [, bracketed, plain, digits] = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text) ?? [];
  const address = bracketed ?? plain ?? '';
  const port = Number(digits);
  return isIP(address) && port > 0 && port < 65_536 ? [{ address, port }] : [];
}

function parsed(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? 'null');
  } catch {
    return undefined;
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
