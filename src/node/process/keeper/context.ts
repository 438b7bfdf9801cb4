/** Dependencies that the parts of the keeper share. */
import type { Random } from '../../../base/random.ts';
import type { Tools } from '../../../base/tools.ts';
import type { Cgroups } from '../../cgroups/cgroups.ts';
import type { PodNetwork } from '../network/bridge.ts';
import type { Executor } from './executor.ts';
import type { Machine } from './machine.ts';
import type { SpareFifos } from './streams/spare-fifos.ts';

export interface KeeperContext extends Pick<Tools, 'clock' | 'random'> {
  readonly directory: string;
  readonly executor: Executor;
  readonly fifos: SpareFifos;
  readonly executorName: 'oci' | 'plain';
  readonly name: string;
  readonly podCidr: string;
  readonly machine: Machine;
  readonly cgroups: Cgroups | undefined;
  readonly network: PodNetwork | undefined;
  /** Identifies the boot of the machine: what ran before is gone. */
  readonly boot: string;
  changed(sandboxId: string): void;
}

/** 32 hexadecimal digits. */
export function newId(random: Random): string {
  return random.bytes(16).toString('hex');
}
