/** Commands that a start suggests. They work on the runtime of the cluster, also without a registry where that is possible. */
import type { PodExecutor } from '../../agent/pod-executor.ts';
import type { Runtime } from '../components/runtimes.ts';

export interface NextCommandsOptions {
  readonly runtime: Runtime;
  readonly nodes: number;
  /** Executor of pods with the runtime `process`. */
  readonly executor: PodExecutor;
  readonly allowsHostImage: boolean;
  /** The command line of `qd image load` for this cluster. */
  readonly imageLoad: string;
}

export interface NextCommands {
  /** Arguments of kubectl. */
  readonly kubectl: readonly string[];
  /** Note to read before pods are created; undefined: none. */
  readonly note: string | undefined;
}

const OBJECTS = ['create configmap hello --from-literal=greeting=hi', 'get configmap hello -o yaml'];
const PULLED = ['create deployment hello --image=nginx', 'get pods'];
const OF_NODE = ['create deployment hello --image=host -- sleep 1d', 'get pods'];

export function nextCommands(options: NextCommandsOptions): NextCommands {
  const { runtime, nodes, executor, allowsHostImage, imageLoad } = options;
  const images = `Images come from a registry, or from this machine: ${imageLoad} FILE`;
  if (nodes === 0) return { kubectl: OBJECTS, note: undefined };
  switch (runtime) {
    case 'simulated':
      return { kubectl: PULLED, note: undefined };
    case 'containerd':
      return { kubectl: PULLED, note: images };
    case 'process':
      if (allowsHostImage) return { kubectl: OF_NODE, note: undefined };
      if (executor === 'containers') return { kubectl: PULLED, note: images };
      return { kubectl: OBJECTS, note: 'No pods can run here: plain processes need --allow-host-image' };
  }
}
