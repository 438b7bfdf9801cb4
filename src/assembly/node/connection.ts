/** How the server reaches the agents in its own process. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { ApiError, badRequest } from '../../api/errors.ts';
import type { NodeConnection } from '../../server/outbound/nodes/connection.ts';
import type { RunningNode } from './start-node.ts';

/** `nodeOf` returns the nodes of this process. */
export function localConnection(nodeOf: (name: string) => RunningNode | undefined): NodeConnection {
  const unknown = (node: string) => `the agent of node "${node}" cannot be reached`;
  const found = (node: string): RunningNode => {
    const running = nodeOf(node);
    if (!running) throw new ApiError('InternalError', unknown(node));
    return running;
  };
  return {
    rejection: (node) => (nodeOf(node) ? undefined : unknown(node)),
    logs: async ({ node, ...request }) => found(node).streams.logs(request),
    exec: async ({ node, streams, command, ...target }) => found(node).streams.exec(target, streams, command),
    attach: async ({ node, streams, ...target }) => found(node).streams.attach(target, streams),
    portForward: async ({ node, port, ...target }) => found(node).streams.portForward(target, port),
    usage: async (node) => nodeOf(node)?.usage(),
    async dial({ node, address, port, signal }) {
      if (!found(node).hasAddress(address)) throw badRequest('address not allowed');
      const socket = connect({ host: address, port, allowHalfOpen: true, signal });
      await once(socket, 'connect');
      return socket;
    },
    endpoint: async (node) => found(node).connect(),
  };
}
