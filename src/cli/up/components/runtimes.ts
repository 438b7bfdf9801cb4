/** Runtimes for the pods of the nodes in this process: the values of `--runtime` besides `auto`. */
export const runtimes = ['containerd', 'process', 'simulated'] as const;

export type Runtime = (typeof runtimes)[number];
