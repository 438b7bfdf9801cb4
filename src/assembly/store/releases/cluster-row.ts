/** The row of a store that says what all servers of the cluster must have, across their starts. */
import { type Store, StoreConflict } from '../../../store/index.ts';
import { AssemblyError } from '../../assembly-error.ts';

/** Outside of /registry/, so that it is never served. */
export const CLUSTER_ROW = '/quarterdeck/settings';
const FORMAT = 1;

export interface RecordedRelease {
  /** Minimum level of servers; 0: any. */
  readonly level: number;
  /** The minor release that last ran the cluster: of several servers, the oldest. Undefined: none has recorded it. */
  readonly release: string | undefined;
}

export interface ClusterContent extends RecordedRelease {
  /** Settings that servers of a shared store have agreed on. */
  readonly settings: object;
}

export interface ClusterRow extends ClusterContent {
  /** 0: there is no row yet. */
  readonly revision: number;
}

export async function readClusterRow(store: Pick<Store, 'get'>): Promise<ClusterRow> {
  const row = await store.get(CLUSTER_ROW);
  if (!row) return { level: 0, release: undefined, settings: {}, revision: 0 };
  const { format, level = 0, release, settings = {} } = JSON.parse(row.value.toString()) as StoredRow;
  if (format !== FORMAT) {
    throw new AssemblyError(
      `the settings of the cluster in this store have format ${format}, which this qd does not know`,
    );
  }
  return { level, release, settings, revision: row.revision };
}

type StoredRow = Partial<ClusterContent> & { readonly format: number };

/**
 * Replaces the content of the row; `change` is called again when another server was faster, and may throw. It returns
 * undefined when there is nothing to write.
 */
export async function changeClusterRow(
  store: Pick<Store, 'get' | 'commit'>,
  change: (row: ClusterRow) => ClusterContent | undefined | Promise<ClusterContent | undefined>,
): Promise<void> {
  for (;;) {
    const row = await readClusterRow(store);
    const content = await change(row);
    if (!content) return;
    const { level, release, settings } = content;
    const value = Buffer.from(JSON.stringify({ format: FORMAT, level, release, settings }));
    try {
      await store.commit([{ key: CLUSTER_ROW, value, expect: row.revision }]);
      return;
    } catch (error) {
      if (!(error instanceof StoreConflict)) throw error;
    }
  }
}
