import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** A kubectl that tests can drive. */
export interface Kubectl {
  readonly name: string;
  readonly program: string;
  /** Whether it is the newest one; some commands and flags are younger than the other. */
  readonly isNewest: boolean;
}

/** Where scripts/newest-kubectl.mjs puts it. */
const NEWEST = join(import.meta.dirname, '..', '..', '.cache', 'kubectl', 'usr', 'bin', 'kubectl');

/** Whether tests can drive the kubectl that is installed. */
export const hasKubectl = (process.env.PATH ?? '')
  .split(delimiter)
  .some((folder) => existsSync(join(folder, 'kubectl')));

if (!hasKubectl) console.log('skipped: kubectl is not installed (Debian has it in kubernetes-client)');

const hasNewest = existsSync(NEWEST);
if (!hasNewest) console.log('skipped: there is no newer kubectl in .cache/kubectl (npm test fetches it)');

/** The one that is installed, and the newest that Debian has; those of them that are there. */
export const kubectls: readonly Kubectl[] = [
  ...(hasKubectl ? [{ name: 'installed', program: 'kubectl', isNewest: false }] : []),
  ...(hasNewest ? [{ name: 'newest', program: NEWEST, isNewest: true }] : []),
];
