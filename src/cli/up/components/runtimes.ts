/** What can run the pods of the nodes in this process: the values of `--runtime` besides `auto`. */
export const runtimes = ['containerd', 'process', 'simulated'] as const;

export type Runtime = (typeof runtimes)[number];

/**
 * Returns the runtime that `--runtime` stands for. `auto` is the first runtime that this machine can run containers or
 * processes with, once there is one; until then, and where none can be used, nodes are simulated. It is resolved anew at
 * every start, so that a newer release, or a machine that has a container engine by then, runs pods for real.
 */
export function runtimeOf(requested: Runtime | 'auto'): Runtime {
  return requested === 'auto' ? 'simulated' : requested;
}
