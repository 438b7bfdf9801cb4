/** A directory of an NFS server, through the `mount` of the node. */
import { TRAVERSED_DIRECTORY } from '../../../base/files/own/modes.ts';
import { makeDirectory } from '../../../base/files/own/own-files.ts';
import type { PreparedVolume } from '../volumes.ts';
import type { VolumeSetup } from './setup.ts';

export interface NfsSource {
  readonly server: string;
  readonly path: string;
  readonly readOnly?: boolean;
  readonly mountOptions?: readonly string[];
}

export async function prepareNfs({ uid, volume, host }: VolumeSetup, source: NfsSource): Promise<PreparedVolume> {
  const { server, path, readOnly = false, mountOptions = [] } = source;
  const target = host.layout.volume(uid, 'nfs', volume.name);
  await makeDirectory(target, TRAVERSED_DIRECTORY);
  const isMounted = (await host.mounter.entries()).some(({ mountPoint }) => mountPoint === target);
  if (!isMounted) {
    const options = [...(readOnly ? ['ro'] : []), ...mountOptions];
    const address = server.includes(':') && !server.startsWith('[') ? `[${server}]` : server;
    await host.mounter.mount({ type: 'nfs', source: `${address}:${path}`, target, options });
  }
  return { type: 'directory', path: target, readOnly, selinuxRelabel: false };
}
