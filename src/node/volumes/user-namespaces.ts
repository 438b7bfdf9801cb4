/** Ids for the user namespaces of pods (`hostUsers: false`): each has a range of its own, so that no pod's root is another's. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { IdMapping } from '../runtime/container-config.ts';
import type { Layout } from './host/layout.ts';
import { namesIn } from './host/names-in.ts';
import { VolumeError } from './volumes.ts';

/** As many ids as a pod usually has; ranges begin at multiples of it, and the first one is the node's own. */
const IDS_PER_POD = 65_536;
const MAX_RANGES = 2 ** 32 / IDS_PER_POD - 1;
/** As kubelet calls it. It goes with the pod's directory. */
const FILE = 'userns';

interface Recorded {
  readonly uidMappings: readonly IdMapping[];
  readonly gidMappings: readonly IdMapping[];
}

/** Returns the range of a pod, which it keeps as long as it has something on the node. Not to be called concurrently. */
export async function userNamespaceOf(layout: Layout, uid: string): Promise<readonly IdMapping[]> {
  const known = await recorded(layout, uid);
  if (known) return known.uidMappings;
  const taken = new Set<number>();
  for (const other of await namesIn(layout.pods)) {
    for (const { hostId } of (await recorded(layout, other))?.uidMappings ?? []) taken.add(hostId / IDS_PER_POD);
  }
  const range = firstFree(taken);
  const mappings: IdMapping[] = [{ hostId: range * IDS_PER_POD, containerId: 0, length: IDS_PER_POD }];
  await mkdir(layout.pod(uid), { recursive: true, mode: 0o750 });
  const contents: Recorded = { uidMappings: mappings, gidMappings: mappings };
  await writeFile(join(layout.pod(uid), FILE), JSON.stringify(contents), { mode: 0o600 });
  return mappings;
}

function firstFree(taken: ReadonlySet<number>): number {
  for (let range = 1; range < MAX_RANGES; range++) if (!taken.has(range)) return range;
  throw new VolumeError('there are no more ids for user namespaces');
}

async function recorded(layout: Layout, uid: string): Promise<Recorded | undefined> {
  const text = await readFile(join(layout.pod(uid), FILE), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
    throw error;
  });
  return text === undefined ? undefined : (JSON.parse(text) as Recorded);
}
