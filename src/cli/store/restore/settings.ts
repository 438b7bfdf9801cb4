/** The settings of a restored cluster: those that it had, apart from where objects and backups were. */
import { SETTINGS } from '../../../assembly/store/backups/saved-files.ts';
import type { SavedState } from '../../../backup/restoring/state.ts';
import { isTree } from '../../../base/json/tree.ts';
import { CliError } from '../../output/cli-error.ts';
import type { Remembered } from '../../up/settings/settle.ts';
import { settingsOnEmbedded } from '../migrate/plan.ts';

export function restoredSettings({ about, files }: Pick<SavedState, 'about' | 'files'>): Remembered {
  const saved = parse(files[SETTINGS]);
  const { encryptionKeyFile: _, ...settings } = settingsOnEmbedded(saved, about.cluster);
  return settings;
}

function parse(text: string | undefined): Remembered {
  try {
    const value: unknown = JSON.parse(text ?? 'null');
    if (isTree(value)) return value as Remembered;
  } catch {
    // As below.
  }
  throw new CliError('the backup does not say with which settings the cluster was started');
}
