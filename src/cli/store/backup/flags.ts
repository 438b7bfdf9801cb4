/** The flags of `qd backup`. */
import { flag, type ValuesOf } from '../../../base/flag.ts';
import { clusterFlags } from '../../flags/cluster.ts';
import * as value from '../../flags/values.ts';

/** Keys that encrypted backups are opened with. */
export const unsealFlags = [
  flag('--passphrase-file <file>', {
    help: 'file with the passphrase that the backup is encrypted with',
    parse: value.file,
    defaultText: "the cluster's --backup-passphrase-file",
  }),
  flag('--identity <file>', {
    help: 'file with the identity of age (age-keygen) that the backup is encrypted for',
    parse: value.file,
  }),
] as const;

const TO = {
  help: 'another target than that of the cluster: a directory, or s3://BUCKET/PREFIX',
  parse: value.backupTarget,
  defaultText: "the cluster's --backup-to",
};

export const nowFlags = [flag('--to <location>', TO), ...clusterFlags] as const;
export const locationFlags = [flag('--from <location>', TO), ...clusterFlags] as const;
export const listFlags = [...locationFlags, flag('--json', { help: 'print JSON' })] as const;
export const verifyFlags = [...locationFlags, ...unsealFlags, flag('--json', { help: 'print JSON' })] as const;

export type NowFlags = ValuesOf<typeof nowFlags>;
export type LocationFlags = ValuesOf<typeof locationFlags>;
export type ListFlags = ValuesOf<typeof listFlags>;
export type VerifyFlags = ValuesOf<typeof verifyFlags>;
