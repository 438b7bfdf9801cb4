import type { NodeConnection } from './connection.ts';

/** Reaches each node by the connection that `to` returns for it now. */
export function connectionByNode(to: (node: string) => NodeConnection): NodeConnection {
  return {
    logs: (request) => to(request.node).logs(request),
    usage: (node) => to(node).usage(node),
    rejection: (node, action) => to(node).rejection(node, action),
    exec: (request) => to(request.node).exec(request),
    attach: (request) => to(request.node).attach(request),
    portForward: (request) => to(request.node).portForward(request),
    dial: (request) => to(request.node).dial(request),
    endpoint: (node, signal) => to(node).endpoint(node, signal),
  };
}
