/** CONNECT: a connection to a pod of the node, for the server's proxies. */

import { once } from 'node:events';
import { connect } from 'node:net';
import { ApiError, badRequest } from '../../../api/errors.ts';
import { joined } from '../../../api/remote-command/joined.ts';
import { isPort } from '../../../api/remote-command/spdy-ports.ts';
import { type EndpointNode, isAddressOf } from '../endpoint-node.ts';
import type { UpgradeExchange } from '../upgrade-exchange.ts';

/** `authority` is the address and the port. Only addresses of the node and of its pods are connected to. */
export async function serveConnect(exchange: UpgradeExchange, authority: string, node: EndpointNode): Promise<void> {
  const { address, port } = parseAuthority(authority);
  if (!isAddressOf(node, address)) throw new ApiError('Forbidden', 'address not allowed');
  const target = connect({ host: address, port, allowHalfOpen: true });
  try {
    await once(target, 'connect');
  } catch (cause) {
    throw new ApiError('ServiceUnavailable', (cause as Error).message, { cause });
  }
  await joined(exchange.accept(), target).catch(() => undefined);
}

function parseAuthority(text: string): { readonly address: string; readonly port: number } {
  const found = /^(?:\[([^\]]+)\]|([^:[\]]+)):(\d+)$/.exec(text);
  const address = found?.[1] ?? found?.[2];
  const port = Number(found?.[3]);
  if (!address || !isPort(port)) throw badRequest(`invalid address ${JSON.stringify(text)}`);
  return { address, port };
}
