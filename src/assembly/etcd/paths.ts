/** Where a member keeps what it needs, below the data directory of its server. */
import { join } from 'node:path';

export interface MemberPaths {
  readonly folder: string;
  readonly pki: string;
  readonly data: string;
  readonly configuration: string;
  readonly log: string;
  /** Written by a server that joins others. */
  readonly joined: string;
  /** Says which release of etcd the member ran with last. */
  readonly release: string;
  readonly authority: string;
  readonly certificate: string;
  readonly key: string;
}

export function memberPaths(directory: string): MemberPaths {
  const folder = join(directory, 'etcd');
  const pki = join(folder, 'pki');
  return {
    folder,
    pki,
    data: join(folder, 'data'),
    configuration: join(folder, 'etcd.json'),
    log: join(folder, 'etcd.log'),
    joined: join(folder, 'joined.json'),
    release: join(folder, 'release'),
    authority: join(pki, 'ca.crt'),
    certificate: join(pki, 'member.crt'),
    key: join(pki, 'member.key'),
  };
}
