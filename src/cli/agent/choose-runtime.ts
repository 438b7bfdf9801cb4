/** Resolves `--runtime auto`: what runs the pods of a node on this machine. */

import { nodesIn } from '../../assembly/node/node-file.ts';
import type { RealRuntime } from '../../assembly/node/open-runtime.ts';
import type { Clock } from '../../base/time/clock.ts';
import type { Detected } from '../../node/containerd/features/detect.ts';
import { CliError } from '../output/cli-error.ts';

export interface ChosenRuntime<Runtime extends string = RealRuntime> {
  readonly runtime: Runtime;
  /** Why it was chosen, as part of a sentence; undefined: it was asked for. */
  readonly why?: string;
}

interface AutoOptions {
  /** `--container-runtime-endpoint`; undefined or empty: none was given. */
  readonly endpoint: string | undefined;
  readonly dataDirectory: string;
  readonly path: string;
  readonly clock: Clock;
}

/**
 * Rejects with a CliError when the nodes of the data directory run in containerd, and it cannot be used any more: other
 * pods would be started beside those that still run.
 */
export async function chooseRuntime(options: AutoOptions): Promise<ChosenRuntime> {
  const { endpoint, dataDirectory, path, clock } = options;
  const before = (await nodesIn(dataDirectory)).at(0)?.file.runtime;
  const socket = endpoint ? endpoint.replace(/^unix:\/\//, '') : undefined;
  const isRoot = process.getuid?.() === 0;
  const detect = async () => {
    // Loaded here: a start with simulated nodes does without the messages of CRI.
    const { detectContainerd } = await import('../../node/containerd/features/detect.ts');
    return detectContainerd({ socket, isRoot, path, clock });
  };
  // Nodes that ran with `process` keep it: an installed containerd need not be looked for.
  return decide(before, before === 'process' ? { missing: 'it was not used before' } : await detect());
}

/** Pure. `before` is what the nodes of the data directory run with. */
export function decide(before: RealRuntime | undefined, detected: Detected): ChosenRuntime {
  switch (before) {
    case 'process':
      return { runtime: 'process', why: 'as at its last start' };
    case 'containerd':
      if ('found' in detected) return { runtime: 'containerd', why: `as at its last start: ${detected.found}` };
      throw new CliError(
        `--runtime auto: the pods of this cluster run in containerd, which cannot be used any more: ${detected.missing}; --runtime process runs them anew as processes`,
      );
    case undefined:
      return 'found' in detected
        ? { runtime: 'containerd', why: detected.found }
        : { runtime: 'process', why: detected.missing };
  }
}
