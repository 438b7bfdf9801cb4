import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Whether tests can drive kubectl. */
export const hasKubectl = (process.env.PATH ?? '')
  .split(delimiter)
  .some((folder) => existsSync(join(folder, 'kubectl')));

if (!hasKubectl) console.log('skipped: kubectl is not installed (Debian has it in kubernetes-client)');
