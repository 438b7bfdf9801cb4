import type { NodeConnection } from './connection.ts';

/** Uses one connection for the nodes of this process, and another for all others. */
export function connectionByNode(
  isLocal: (node: string) => boolean,
  { local, remote }: { readonly local: NodeConnection; readonly remote: NodeConnection },
): NodeConnection {
  const to = (node: string) => (isLocal(node) ? local : remote);
  return {
    logs: (request) => to(request.node).logs(request),
    usage: (node) => to(node).usage(node),
    refusal: (node, action) => to(node).refusal(node, action),
    exec: (request) => to(request.node).exec(request),
    attach: (request) => to(request.node).attach(request),
    portForward: (request) => to(request.node).portForward(request),
    dial: (request) => to(request.node).dial(request),
    endpoint: (node, signal) => to(node).endpoint(node, signal),
  };
}
