import { StoreDamaged } from '../store.ts';

/** Reasons why a directory cannot be opened as a store. Messages are one sentence for the user. */

/** Another process uses the directory. */
export class StoreLocked extends Error {
  override readonly name = 'StoreLocked';
  constructor(
    directory: string,
    readonly pid: number,
  ) {
    super(`${directory} is in use by process ${pid}`);
  }
}

/** A directory that is not a store, or was written by a newer release. */
export class StoreFormat extends Error {
  override readonly name = 'StoreFormat';
}

/** The process has no permission to read or write the directory. */
export class StoreDenied extends Error {
  override readonly name = 'StoreDenied';
}

/** A data file that is damaged, truncated, or was copied while being written: nothing in it can be trusted. */
export class StoreTorn extends StoreDamaged {
  override readonly name = 'StoreTorn';
}
