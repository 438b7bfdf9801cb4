export interface Usage {
  /** CPU usage in nanocores. */
  readonly cpu: number;
  /** Memory usage: the working set, in bytes. */
  readonly memory: number;
}

/** The latest metrics of a node and its pods. */
export interface NodeUsage {
  /** Time of the measurement, in milliseconds since the epoch. */
  readonly time: number;
  /** The length of the measured interval, in milliseconds. */
  readonly window: number;
  /** Usage of the whole machine. */
  readonly node: Usage;
  /** Pods with a running container. */
  readonly pods: readonly PodUsage[];
}

interface PodUsage {
  readonly namespace: string;
  readonly name: string;
  readonly containers: readonly (Usage & { readonly name: string })[];
}
