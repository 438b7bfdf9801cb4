import { join } from 'node:path';
import { treeBytes } from '../../base/files/inside/tree-bytes.ts';
import { readdir } from '../../base/files/own/own-files.ts';

/** Measures the logs of a pod, rotated ones included: bytes by name of the container. */
export async function logBytes(podDirectory: string): Promise<ReadonlyMap<string, number>> {
  const names = await readdir(podDirectory).catch(() => []);
  return new Map(
    await Promise.all(names.map(async (name) => [name, await treeBytes(join(podDirectory, name))] as const)),
  );
}
