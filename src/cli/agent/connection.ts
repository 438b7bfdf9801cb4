/** How the server reaches the agents in its own process. */
import { connect } from 'node:net';
import { ApiError } from '../../base/errors.ts';
import { containerLog } from '../../node/logs/container-log.ts';
import { RuntimeError } from '../../node/runtime/errors.ts';
import type { Runtime } from '../../node/runtime/runtime.ts';
import { type NodeConnection, unreachable } from '../../server/nodes/connection.ts';
import type { RunningNode } from './run-node.ts';

interface Located {
  readonly namespace: string;
  readonly pod: string;
  readonly node: string;
}

/** `nodeOf` returns the nodes of this process. */
export function localConnection(nodeOf: (name: string) => RunningNode | undefined): NodeConnection {
  const runtimeOf = (node: string): Runtime => {
    const running = nodeOf(node);
    if (!running) throw new ApiError('InternalError', `the agent of node "${node}" cannot be reached`);
    if (!running.runtime) throw new ApiError('ServiceUnavailable', `the runtime of node "${node}" is starting`);
    return running.runtime;
  };
  const stateOf = ({ node, namespace, pod }: Located) => {
    const state = nodeOf(node)?.agent?.pods.find(namespace, pod)?.state;
    if (!state) throw new ApiError('NotFound', `pod "${pod}" is not known to node "${node}"`);
    return state;
  };
  const containerId = (located: Located & { readonly container: string }): string => {
    const found = stateOf(located).containers.find(({ name }) => name === located.container);
    const running = found?.records.find(({ state }) => state === 'running');
    if (running) return running.id;
    throw new ApiError('InternalError', `unable to upgrade connection: container not found ("${located.container}")`);
  };
  return {
    ...unreachable((node) => `the agent of node "${node}" cannot be reached`),
    refusal: (node) => (nodeOf(node) ? undefined : `the agent of node "${node}" cannot be reached`),
    logs: async ({ node, ...request }) => containerLog(runtimeOf(node), request),
    exec: async ({ streams, command, ...located }) =>
      explained(runtimeOf(located.node).exec(containerId(located), { ...streams, command })),
    attach: async ({ streams, ...located }) =>
      explained(runtimeOf(located.node).attach(containerId(located), { ...streams })),
    async portForward({ port, ...located }) {
      const sandbox = stateOf(located).sandboxes.find(({ isReady }) => isReady);
      if (!sandbox) throw new ApiError('InternalError', `pod "${located.pod}" does not run`);
      return explained(runtimeOf(located.node).portForward(sandbox.id, port));
    },
    usage: async (node) => nodeOf(node)?.usage(),
    dial: async ({ address, port }) => connect({ host: address, port }),
  };
}

async function explained<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof RuntimeError) throw new ApiError('InternalError', error.message, { cause: error });
    throw error;
  }
}
