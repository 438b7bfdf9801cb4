/** How a plain process enters its cgroup: a shell moves itself there, and becomes the program. */

import { programText } from '../../../../base/programs/program-text.ts';
import { runProgram } from '../../../../base/programs/run-program.ts';
import type { Cgroups } from '../../../cgroups/cgroups.ts';

const ENTER = programText(new URL('./enter-cgroup.sh', import.meta.url));

/** The beginning of a command that runs in a cgroup. */
export function enteringCgroup(entries: readonly string[]): string[] {
  return entries.length === 0 ? [] : ['/bin/sh', '-c', ENTER, 'sh', ...entries, '--'];
}

/** Reports whether processes of this user can be moved to cgroups below a path, by trying it. */
export async function canEnter(cgroups: Cgroups, path: string): Promise<boolean> {
  const probe = `${path}/probe`;
  try {
    await runProgram([...enteringCgroup(cgroups.create(probe, undefined)), '/bin/sh', '-c', ':']);
    return true;
  } catch {
    return false;
  } finally {
    cgroups.remove(probe);
  }
}
