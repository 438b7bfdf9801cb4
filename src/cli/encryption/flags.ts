/** The flags of `qd encryption`. */
import type { ValuesOf } from '../../base/flag.ts';
import { clusterFlags } from '../flags/cluster.ts';
import { encryptionKeyFileFlag } from '../flags/encryption.ts';

export const keysFlags = [...clusterFlags, encryptionKeyFileFlag] as const;

export type KeysFlags = ValuesOf<typeof keysFlags>;
