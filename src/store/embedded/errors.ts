/** Why a directory cannot be opened as a store. Their messages are one sentence for whoever started the program. */

/** Another program has the directory open. */
export class StoreLocked extends Error {
  override readonly name = 'StoreLocked';
  constructor(
    directory: string,
    readonly pid: number,
  ) {
    super(`${directory} is in use by process ${pid}`);
  }
}

/** The directory holds something else, or what a newer release wrote. */
export class StoreFormat extends Error {
  override readonly name = 'StoreFormat';
}

/** The process may not read or write there. */
export class StoreDenied extends Error {
  override readonly name = 'StoreDenied';
}

/** The data file was copied while a program wrote to it, or cut off: its parts do not fit together. */
export class StoreTorn extends Error {
  override readonly name = 'StoreTorn';
}
