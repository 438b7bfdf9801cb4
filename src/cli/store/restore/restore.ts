/** `qd restore`. */
import { BackupDamaged } from '../../../backup/file/format.ts';
import { continuedRevision } from '../../../backup/restoring/continue.ts';
import { BackupBegins, readState, type SavedState } from '../../../backup/restoring/state.ts';
import type { Unseal } from '../../../backup/seal.ts';
import { makeDirectories } from '../../../base/files/own/make-directories.ts';
import { systemClock } from '../../../base/time/clock.ts';
import { DEFAULT_NAME, directoryNamed } from '../../flags/cluster.ts';
import { CliError } from '../../output/cli-error.ts';
import { print } from '../../output/print.ts';
import { withCluster } from '../../process/cluster-process.ts';
import { unsealWith } from '../../up/store/backups/targets.ts';
import { type BackupSource, contentOf } from '../backup/sources.ts';
import { chooseBackups } from './choose.ts';
import { checkEmpty, fillDirectory } from './fill.ts';
import type { RestoreFlags } from './flags.ts';

export async function restore(from: string, flags: RestoreFlags): Promise<void> {
  const { at, name = DEFAULT_NAME, dataDir } = flags;
  const directory = directoryNamed({ name, dataDir });
  await checkEmpty(directory);
  const { sources, origin } = await chooseBackups(from, { at, cluster: flags.cluster });
  const unseal = await unsealWith(
    {
      passphraseFile: flags.passphraseFile ?? origin?.settings.backupPassphraseFile,
      identityFile: flags.identity,
    },
    (problem) => process.stderr.write(`qd: ${problem}\n`),
  );
  const { source, state } = await stateAt(sources, at, unseal);
  await makeDirectories(directory, 0o700);
  await withCluster(directory, async (pid) => {
    if (pid !== undefined) throw new CliError(`process ${pid} uses ${directory}; restore to another --data-dir`);
    await checkEmpty(directory);
    await fillDirectory(directory, state, continuedRevision(state.about, systemClock.now()));
  });
  const { about, rows, undone, end } = state;
  const moment = new Date(at ?? about.time).toISOString();
  const undoing = undone === 0 ? '' : `, after undoing ${undone} later changes`;
  print(`Restored cluster "${about.cluster}" as of ${moment} from ${source.name}: ${rows.length} objects${undoing}.`);
  if (end.damaged.length > 0) print(`${end.damaged.length} objects could not be read when the backup was taken.`);
  const next = dataDir === undefined ? `--name ${name}` : `--data-dir ${dataDir}`;
  if (!flags.start) return print(`Start it with: qd up ${next}`, ...sharedAdvice(about.store, next));
  const { up } = await import('../../up/up.ts');
  await up({ name, dataDir });
}

/** The first source that reaches back to the moment. */
async function stateAt(
  sources: readonly BackupSource[],
  at: number | undefined,
  unseal: Unseal | undefined,
): Promise<{ readonly source: BackupSource; readonly state: SavedState }> {
  let problem: Error | undefined;
  for (const source of sources) {
    try {
      return { source, state: await readState(contentOf(source, unseal), at) };
    } catch (error) {
      if (!(error instanceof BackupBegins)) throw damaged(source, error);
      problem ??= error;
    }
  }
  throw new CliError(`no backup reaches back to that moment: ${problem?.message}`, { cause: problem });
}

function damaged({ name }: BackupSource, error: unknown): unknown {
  return error instanceof BackupDamaged ? new CliError(`${name}: ${error.message}`, { cause: error }) : error;
}

function sharedAdvice(store: string, next: string): readonly string[] {
  if (store !== 'etcd') return [];
  return [`The cluster was on etcd. To go back to several servers: qd store migrate --to etcd --ha ${next}`];
}
