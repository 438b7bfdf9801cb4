/** Connects the backups of a cluster with its parts. */
import type { ServedTree } from '../../../api/served-action.ts';
import { BackupKeeper } from '../../../backup/keeping/keeper.ts';
import type { RetentionPolicy } from '../../../backup/retention.ts';
import type { Seal } from '../../../backup/seal.ts';
import type { SavedArchive } from '../../../backup/taking/history.ts';
import { takeBackup } from '../../../backup/taking/take.ts';
import type { BackupTarget } from '../../../backup/target.ts';
import { createClient } from '../../../client/client.ts';
import { createEventRecorder } from '../../../client/events/event-recorder.ts';
import { directTransport } from '../../../client/transport/direct-transport.ts';
import type { Server } from '../../../server/index.ts';
import { SERVER_USER } from '../../../server/objects/server-user.ts';
import type { Metrics } from '../../../server/serving/metrics/metrics.ts';
import type { Store } from '../../../store/index.ts';
import type { Cleanup } from '../../cleanup.ts';
import type { Tools } from '../../context.ts';
import { recordOutcome } from './events.ts';
import { BackupMetrics } from './metrics.ts';
import { readSavedFiles } from './saved-files.ts';
import { backupTree } from './tree.ts';

/** Where the backups of a cluster go, and how many are kept. */
export interface BackupPlan {
  /** Name of the cluster. */
  readonly cluster: string;
  readonly target: BackupTarget;
  /** Encrypts the files; undefined: they are not encrypted. */
  readonly seal: Seal | undefined;
  readonly policy: RetentionPolicy;
  /** False when backups are taken only when somebody asks for one. */
  readonly isScheduled: boolean;
  /** Resolves with the target that an owner of the data directory has named for a request; undefined: the usual one. */
  targetFor(id: string): Promise<BackupTarget | undefined>;
}

export interface BackupOptions extends Tools {
  readonly plan: BackupPlan;
  /** The data directory. */
  readonly directory: string;
  readonly keyFile: string;
  /** The store, with its values as at rest. */
  readonly store: Pick<Store, 'revision' | 'list'>;
  readonly storeName: string;
  readonly archive: SavedArchive | undefined;
  readonly release: { readonly version: string; readonly level: number };
  readonly server: Pick<Server, 'direct'>;
  readonly metrics: Metrics;
  readonly cleanup: Cleanup;
}

export interface Backups {
  readonly tree: ServedTree;
  /** Takes backups by schedule until the signal is aborted. */
  run(signal: AbortSignal): Promise<void>;
}

export function openBackups(options: BackupOptions): Backups {
  const { plan, directory, keyFile, server, metrics, cleanup, log, clock, random, release, storeName } = options;
  const { cluster, isScheduled } = plan;
  const stopping = new AbortController();
  const client = createClient(directTransport(server.direct(SERVER_USER)));
  const tools = { client, clock, random, log, signal: stopping.signal };
  const recorder = createEventRecorder({ ...tools, component: 'backups' });
  const keeper = new BackupKeeper({
    ...plan,
    clock,
    log,
    take: ({ since, share, signal }) =>
      takeBackup({
        store: options.store,
        archive: options.archive,
        since,
        about: { cluster, release, store: storeName },
        files: () => readSavedFiles(directory, keyFile),
        withoutHistory: (error) => log.warn('history cannot be read, and is not part of the backup', { error }),
        clock,
        share,
        signal: AbortSignal.any([signal, stopping.signal]),
      }),
    onOutcome: (outcome) => recordOutcome(recorder, outcome),
  });
  metrics.add(new BackupMetrics(() => keeper.report()));
  cleanup.add(async () => {
    stopping.abort(new Error('the server stops'));
    await keeper.idle();
  });
  return {
    tree: backupTree({ keeper, isScheduled, targetFor: plan.targetFor, signal: stopping.signal }),
    run: async (signal) => {
      if (isScheduled) await keeper.run(AbortSignal.any([signal, stopping.signal]));
    },
  };
}
