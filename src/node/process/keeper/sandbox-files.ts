/** The files of a sandbox that appear in `/etc` of its containers. */
import type { DnsConfig } from '../../runtime/sandbox-config.ts';

export function resolvConf({ servers, searches, options }: DnsConfig): string {
  return [
    ...(searches.length > 0 ? [`search ${searches.join(' ')}`] : []),
    ...servers.map((server) => `nameserver ${server}`),
    ...(options.length > 0 ? [`options ${options.join(' ')}`] : []),
    '',
  ].join('\n');
}

/** For a container that mounts no file of its own there. */
export function etcHosts(hostname: string, address: string | undefined): string {
  return [
    '127.0.0.1\tlocalhost',
    '::1\tlocalhost ip6-localhost ip6-loopback',
    ...(address === undefined ? [] : [`${address}\t${hostname}`]),
    '',
  ].join('\n');
}
