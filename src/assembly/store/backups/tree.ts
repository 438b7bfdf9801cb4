/** The path at which administrators ask a server for backups. */
import { BACKUPS_PATH, type BackupStatus, type RequestedBackup } from '../../../api/backups.ts';
import { ApiError, badRequest, methodNotAllowed, noSuchPath } from '../../../api/errors.ts';
import type { ServedTree } from '../../../api/served-action.ts';
import type { BackupKeeper } from '../../../backup/keeping/keeper.ts';
import type { BackupTarget } from '../../../backup/target.ts';

export interface BackupTreeOptions {
  readonly keeper: BackupKeeper;
  readonly isScheduled: boolean;
  /** Resolves with the target that an owner of the data directory has named for a request; undefined: the usual one. */
  targetFor(id: string): Promise<BackupTarget | undefined>;
  /** Aborted when the server stops. */
  readonly signal: AbortSignal;
}

/** Who has not said who they are: what they may do to objects, they may not do to the machine. */
const UNKNOWN_USERS: ReadonlySet<string> = new Set(['system:anonymous', 'system:unsecured']);
const ID = /^[-0-9a-zA-Z]{1,64}$/;

export function backupTree({ keeper, isScheduled, targetFor, signal }: BackupTreeOptions): ServedTree {
  let request: RequestedBackup | undefined;

  function begin(id: string): void {
    if (request?.id === id) return;
    if (request?.state === 'running') throw new ApiError('Conflict', 'a backup that was asked for is being taken');
    request = { id, state: 'running', message: '' };
    const taking = targetFor(id).then((target) => keeper.take('manual', signal, target));
    taking.then(
      (taken) => {
        request = { id, state: 'done', message: `took ${taken.name}`, taken };
      },
      (error: unknown) => {
        request = { id, state: 'failed', message: error instanceof Error ? error.message : String(error) };
      },
    );
  }

  async function status(): Promise<BackupStatus> {
    const problem = await keeper.refresh(signal).then(
      () => undefined,
      (error: Error) => error.message,
    );
    const { target, isRunning, newest, failures, lastFailure } = keeper.report();
    return { target, isScheduled, isRunning, newest, failures, lastFailure: lastFailure?.message, problem, request };
  }

  return {
    root: BACKUPS_PATH,
    async answer({ user, method, path, query }) {
      if (UNKNOWN_USERS.has(user.name)) {
        throw new ApiError('Forbidden', `${path} is for users who have authenticated, and not for ${user.name}`);
      }
      if (path !== BACKUPS_PATH) throw noSuchPath();
      if (method === 'POST') {
        const id = query.get('id') ?? '';
        if (!ID.test(id)) throw badRequest('the parameter id names the request: up to 64 letters, digits and hyphens');
        begin(id);
      } else if (method !== 'GET') throw methodNotAllowed();
      return status();
    },
  };
}
