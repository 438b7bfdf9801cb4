/** Opens the runtime that runs pods as processes of this machine. */
import type { Clock } from '../../base/clock.ts';
import type { Random } from '../../base/random.ts';
import type { ImageStore } from '../images/image-store.ts';
import { RuntimeError } from '../runtime/errors.ts';
import type { Runtime } from '../runtime/runtime.ts';

export interface ProcessRuntimeOptions {
  /** Everything that the runtime keeps is in it. One runtime at a time uses a directory. */
  readonly directory: string;
  /** Distinguishes the bridge, the nftables table and the cgroups of this runtime from those of others; at most 11 characters. */
  readonly name: string;
  /** The node's range of pod addresses, for example `10.244.0.0/24`. */
  readonly podCidr: string;
  readonly images: ImageStore;
  /** The command that starts the keeper of containers; the directory is appended to it. */
  readonly keeper: readonly string[];
  readonly clock: Clock;
  readonly random: Random;
}

/** Connects to what runs in the directory, and starts the keeper if none runs. Rejects with a RuntimeError. */
export async function openProcessRuntime(options: ProcessRuntimeOptions): Promise<Runtime> {
  throw new RuntimeError('Unavailable', `the process runtime in ${options.directory} is not implemented yet`);
}
