/**
 * Keeps two machines from running one node. Each data directory has an identity, which its node carries as an annotation; a
 * machine does not take over a node that another one keeps alive.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isApiError } from '../../api/errors.ts';
import type { DeepReadonly } from '../../api/object-types.ts';
import { isCopy } from '../../base/files/own/is-copy.ts';
import { PRIVATE_FILE } from '../../base/files/own/modes.ts';
import type { Random } from '../../base/random.ts';
import type { Client } from '../../client/client.ts';
import { Node } from '../../kinds/groups/core/node/node.ts';
import { AssemblyError } from '../assembly-error.ts';

/** The identity of the data directory that runs the node. */
export const OWNER_ANNOTATION = 'node.quarterdeck.io/owner';

const FILE = 'owner.json';

interface OwnerFile {
  readonly id: string;
  /** The directory that it was written in: a copy is another owner. */
  readonly writtenIn: string;
}

/** Resolves with the identity of a node's directory, which is made when there is none. */
export async function ownerOf(directory: string, random: Random): Promise<string> {
  const file = join(directory, FILE);
  const text = await readFile(file, 'utf8').catch(() => undefined);
  if (text !== undefined) {
    const { id, writtenIn } = JSON.parse(text) as OwnerFile;
    if (!(await isCopy(directory, writtenIn))) return id;
  }
  const owner: OwnerFile = { id: random.uuid(), writtenIn: directory };
  await writeFile(file, `${JSON.stringify(owner)}\n`, { mode: PRIVATE_FILE });
  return owner.id;
}

/** Throws when another machine runs the node. One that has been silent for too long no longer does. */
export async function rejectOtherOwner(client: Client, name: string, owner: string): Promise<void> {
  const node = await client
    .of(Node)
    .get(name)
    .catch((error: unknown) => {
      if (isApiError(error, 'NotFound')) return undefined;
      throw error;
    });
  const other = node?.metadata.annotations?.[OWNER_ANNOTATION];
  if (!node || other === undefined || other === owner || !isAlive(node)) return;
  throw new AssemblyError(
    `${describeOther(node)}: choose another --node-name. If that machine is gone, try again when the node is NotReady, or remove it first: kubectl delete node ${name}`,
  );
}

/** The machine that runs the node, as the beginning of a sentence. */
export function describeOther({ metadata, status }: DeepReadonly<Node>): string {
  const address = status.addresses?.find(({ type }) => type === 'InternalIP')?.address;
  return `another machine${address === undefined ? '' : ` (${address})`} runs the node "${metadata.name}"`;
}

/** Node lifecycle makes the condition unknown when the lease of a node is no longer renewed. */
function isAlive(node: DeepReadonly<Node>): boolean {
  const ready = node.status.conditions?.find(({ type }) => type === 'Ready');
  return ready !== undefined && ready.status !== 'Unknown';
}
