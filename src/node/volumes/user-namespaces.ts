/** Assigns ids for the user namespaces of pods: each has its own range, so that no pod's root is another's. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { PRIVATE_FILE, TRAVERSED_DIRECTORY } from '../../base/files/own/modes.ts';
import { makeDirectory, readFile, writeFile } from '../../base/files/own/own-files.ts';
import type { IdMapping } from '../runtime/container-config.ts';
import type { Layout } from './host/layout.ts';
import { namesIn } from './host/names-in.ts';
import { VolumeError } from './volumes.ts';

/** Number of ids of a pod, as pods usually have; ranges begin at multiples of it. */
const IDS_PER_POD = 65_536;
/**
 * Ids between those that `useradd` gives to the containers of users (up to 600,100,000) and those that systemd warns
 * about (from 0x6fff0000). Other programs that choose from the same range, such as other nodes, begin elsewhere.
 */
const FIRST_RANGE = 0x4000;
const RANGES = 0x6fff - FIRST_RANGE;
/** File name of kubelet. It is removed with the pod's directory. */
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
  const range = firstFree(taken, startOf(layout.pods));
  const mappings: IdMapping[] = [{ hostId: range * IDS_PER_POD, containerId: 0, length: IDS_PER_POD }];
  await makeDirectory(layout.pod(uid), TRAVERSED_DIRECTORY);
  const contents: Recorded = { uidMappings: mappings, gidMappings: mappings };
  await writeFile(join(layout.pod(uid), FILE), JSON.stringify(contents), { mode: PRIVATE_FILE });
  return mappings;
}

/** Returns the start of the search. Nodes of one machine have different directories. */
function startOf(directory: string): number {
  return createHash('sha256').update(directory).digest().readUInt32BE() % RANGES;
}

function firstFree(taken: ReadonlySet<number>, start: number): number {
  for (let step = 0; step < RANGES; step++) {
    const range = FIRST_RANGE + ((start + step) % RANGES);
    if (!taken.has(range)) return range;
  }
  throw new VolumeError('there are no more ids for user namespaces');
}

async function recorded(layout: Layout, uid: string): Promise<Recorded | undefined> {
  const text = await readFile(join(layout.pod(uid), FILE), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
    throw error;
  });
  return text === undefined ? undefined : (JSON.parse(text) as Recorded);
}
