/** Users: root in a pod is nobody in particular on the node. */
import { existsSync, statSync } from 'node:fs';
import { chown, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { HOST_IMAGE_ID } from '../../../src/kinds/shapes/container/host-image.ts';
import { attack, attempt, hostUsers, type Lab, promised, scratchOfNode, volume } from '../lab.ts';

export function describeUsers(lab: Lab): void {
  promised(
    lab,
    'containers',
    'user namespaces',
  )('of a pod are ids of its own on the node', async () => {
    const first = lab.world().sandbox().namespaces.user![0]!;
    const folder = await lab.world().folder('owned');
    const script = 'id -u; cat /proc/self/uid_map; touch /volume/made; chmod 4755 /volume/made';
    const container = await attack(lab, script, { mounts: [volume(folder, '/volume')] });
    const [uid, map = ''] = (await container.output()).split('\n');
    expect(uid).toBe('0');
    expect(map.trim().split(/\s+/).map(Number)).toEqual([0, first.hostId, first.length]);
    expect(statSync(join(folder, 'made')).uid).toBe(first.hostId);
  });

  promised(
    lab,
    'containers',
    'user namespaces',
  )('of the node keep their files to themselves', async () => {
    const folder = await lab.world().folder('foreign');
    await mkdir(join(folder, 'private'), { mode: 0o700, recursive: true });
    await writeFile(join(folder, 'private/file'), 'secret');
    await writeFile(join(folder, 'file'), 'secret', { mode: 0o600 });
    await chown(join(folder, 'file'), 0, 0);
    const attacks = {
      read: 'cat /volume/file',
      'look into': 'ls /volume/private',
      own: 'chown 0:0 /volume/file',
      mode: 'chmod 666 /volume/file',
    };
    const changes = { mounts: [volume(folder, '/volume')] };
    expect(await attempt(lab, attacks, changes)).toEqual({
      ...{ read: 'failed', 'look into': 'failed', own: 'failed', mode: 'failed' },
    });
    // With the ids of the node, root is root.
    expect(await attempt(lab, { read: attacks.read }, changes, hostUsers(lab))).toEqual({ read: 'done' });
  });

  promised(
    lab,
    'containers',
    'user namespaces',
    'keeper',
  )('of the node keep their files from pods with the image host', async () => {
    const host = { image: 'host', imageId: HOST_IMAGE_ID };
    const attacks = { shadow: 'head -c 1 /etc/shadow', 'files of root': 'ls -A /root/* /root/.[a-z]*' };
    expect(await attempt(lab, attacks, host)).toEqual({ shadow: 'failed', 'files of root': 'failed' });
    expect(await attempt(lab, { shadow: attacks.shadow }, host, hostUsers(lab))).toEqual({ shadow: 'done' });
  });

  promised(
    lab,
    'containers',
    'keeper',
  )('with the files of the node do not see the data of clusters', async () => {
    const host = { image: 'host', imageId: HOST_IMAGE_ID };
    const directory = lab.world().path();
    const attacks = {
      list: `[ -n "$(ls -A ${directory})" ]`,
      key: `cat ${join(directory, 'runtime/keeper.key')}`,
      mounted: `umount -l ${directory}`,
    };
    const failed = { list: 'failed', key: 'failed', mounted: 'failed' };
    expect(await attempt(lab, attacks, host, hostUsers(lab))).toEqual(failed);
    expect(await attempt(lab, attacks, host)).toEqual(failed);
    // Other directories are seen.
    const other = scratchOfNode();
    await writeFile(join(other, 'file'), '');
    expect(await attempt(lab, { list: `ls ${other}/file` }, host, hostUsers(lab))).toEqual({ list: 'done' });
  });

  promised(lab)('of the node keep what pods try to write to it', async () => {
    const before = statSync('/etc/passwd');
    const made = `/etc/made-by-${process.pid}`;
    await (await attack(lab, `mkdir ${made}; echo x:x:0:0::/: >>/etc/passwd; chmod 666 /etc/passwd; true`)).ended();
    expect(existsSync(made)).toBe(false);
    const { size, mode, ctimeMs } = statSync('/etc/passwd');
    expect({ size, mode, ctimeMs }).toEqual({ size: before.size, mode: before.mode, ctimeMs: before.ctimeMs });
  });
}
