/** What a server gets when it joins. The cluster's other keys are in etcd, encrypted with the encryption key. */
import type { RecordedRelease } from '../../store/releases/cluster-row.ts';
import type { AuthorityFiles } from '../certificates.ts';

export interface JoinBundle {
  readonly format: number;
  /** By it, members of etcd and servers know each other. */
  readonly etcdAuthority: AuthorityFiles;
  /** Where members of etcd serve servers. */
  readonly etcdEndpoints: readonly string[];
  /** The content of the encryption key file. */
  readonly encryptionKey: string;
  /** The settings that all servers agree on. */
  readonly settings: object;
  /** Which releases may join; releases before the first with a level do not say. */
  readonly releases?: RecordedRelease | undefined;
}

export const BUNDLE_FORMAT = 1;

/** Where servers serve it, sealed. */
export const JOIN_PATH = '/quarterdeck/server-join';

/** The verb on a token's Secret that lets its holder join as a server. */
export const JOIN_VERB = 'join-server';
