import { RuntimeError } from '../runtime/errors.ts';
import type { ContainerdOptions, ContainerdRuntime } from './options.ts';

/** Connects to a containerd, and starts one if need be. */
export async function openContainerd(_options: ContainerdOptions): Promise<ContainerdRuntime> {
  throw new RuntimeError('Unsupported', 'containerd is not supported yet');
}

/** Ends the containerd of a node with all its pods, if it has one, whether or not it runs. Its files stay. */
export async function stopOwnContainerd(
  _options: Pick<ContainerdOptions, 'directory' | 'name' | 'clock' | 'log' | 'path'>,
): Promise<void> {
  throw new RuntimeError('Unsupported', 'containerd is not supported yet');
}
