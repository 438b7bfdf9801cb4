/** ConfigMap, Secret, downward API and projected volumes: directories with files that the agent writes. */
import { join, normalize } from 'node:path';
import { openInside } from '../../../base/files/inside/open-inside.ts';
import { TRAVERSED_DIRECTORY } from '../../../base/files/own/modes.ts';
import { chmod, chown, lstat, makeDirectory } from '../../../base/files/own/own-files.ts';
import type { SeenPod } from '../../pod/container-run.ts';
import { readPayload, writeAtomically } from '../files/atomic-writer.ts';
import { type CollectedFiles, collectFiles, hasChangingFiles, hasConfiguredFiles } from '../files/sources.ts';
import { rootOf } from '../host/host-ids.ts';
import { applyFsGroup } from '../host/ownership.ts';
import type { PreparedVolume } from '../volumes.ts';
import type { PodVolume, VolumeSetup } from './setup.ts';

/** Maximum delay until a change of live configuration reaches a pod. */
const LIVE_REFRESH_MS = 30_000;

/**
 * Writes the files of the volume. The first content of ConfigMaps and Secrets is kept, unless configuration is live: a
 * changed ConfigMap does not reach a running pod.
 */
export async function prepareFileVolume(setup: VolumeSetup): Promise<PreparedVolume> {
  const path = await directoryOf(setup);
  if (!(await readPayload(path, setup.ids))) {
    const files = await collect(setup, 'all');
    if (await makeDirectory(path, TRAVERSED_DIRECTORY)) {
      if (setup.ids) await chown(path, rootOf(setup.ids).uid, rootOf(setup.ids).gid);
      await chmod(path, 0o777);
    }
    await makeNestedMountPoints(path, setup);
    await write(setup, files);
  } else {
    await refreshFileVolume(setup);
  }
  return { type: 'directory', path, readOnly: true, selinuxRelabel: true };
}

/** Updates the changing files, and returns when to do so again; undefined: nothing changes with time. */
export async function refreshFileVolume(setup: VolumeSetup): Promise<number | undefined> {
  const { volume, host } = setup;
  const kept = await readPayload(await directoryOf(setup), setup.ids);
  // It was never written, or released meanwhile.
  if (!kept) return undefined;
  if (host.liveConfigVolumes) {
    const files = await collect(setup, 'all');
    await write(setup, files);
    const nextLook = hasConfiguredFiles(volume) ? host.clock.now() + LIVE_REFRESH_MS : Number.POSITIVE_INFINITY;
    const nextAt = Math.min(files.renewAt ?? Number.POSITIVE_INFINITY, nextLook);
    return nextAt === Number.POSITIVE_INFINITY ? undefined : nextAt;
  }
  if (!hasChangingFiles(volume)) return undefined;
  const changing = await collect(setup, 'changing');
  await write(setup, { payload: new Map([...kept, ...changing.payload]), renewAt: changing.renewAt });
  return changing.renewAt;
}

function collect({ pod, volume, host }: VolumeSetup, part: 'all' | 'changing'): Promise<CollectedFiles> {
  const { api, tokens } = host;
  return collectFiles(volume, part, { pod, api, tokens, allocatable: host.allocatable() });
}

async function write(setup: VolumeSetup, { payload }: CollectedFiles): Promise<void> {
  const { pod, host, ids } = setup;
  const directory = await directoryOf(setup);
  await writeAtomically(directory, payload, {
    now: host.clock.now(),
    random: host.random,
    ids,
    beforePublish: () => applyFsGroup(directory, pod, { readOnly: true, honorsPolicy: false, ids }),
  });
}

/**
 * Returns the directory of the files. Secrets, tokens and the downward API are never on a disk if the agent can mount,
 * as with kubelet. Files written there by an earlier release stay, because containers use them.
 */
async function directoryOf({ uid, volume, host }: VolumeSetup): Promise<string> {
  const { layout, memory } = host;
  const onDisk = layout.volume(uid, pluginName(volume), volume.name);
  if (volume.configMap || (await isWritten(onDisk)) || !(await memory.ensure())) return onDisk;
  return layout.memoryVolume(uid, pluginName(volume), volume.name);
}

const isWritten = (directory: string): Promise<boolean> =>
  lstat(join(directory, '..data')).then(
    () => true,
    () => false,
  );

function pluginName({ configMap, secret, downwardAPI }: PodVolume): string {
  if (configMap) return 'configmap';
  if (secret) return 'secret';
  return downwardAPI ? 'downward-api' : 'projected';
}

/** Creates mount points inside the volume: it is read-only in containers, so that a runtime could not create them. */
async function makeNestedMountPoints(directory: string, { pod, volume, ids }: VolumeSetup): Promise<void> {
  const create = { mode: 0o755, owner: ids && rootOf(ids) };
  for (const path of nestedMountPoints(pod, volume.name)) {
    await (await openInside(directory, path, { links: 'reject', create })).close();
  }
}

function nestedMountPoints({ spec }: SeenPod, name: string): string[] {
  const containers = [...spec.containers, ...(spec.initContainers ?? []), ...(spec.ephemeralContainers ?? [])];
  return containers.flatMap(({ volumeMounts = [] }) => {
    const paths = volumeMounts.map(({ mountPath }) => normalize(mountPath).replace(/\/$/, ''));
    return volumeMounts.flatMap((mount, index) => {
      if (mount.name !== name) return [];
      const prefix = `${paths[index]}/`;
      return paths.filter((path) => path.startsWith(prefix)).map((path) => path.slice(prefix.length));
    });
  });
}
