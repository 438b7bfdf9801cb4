/** The target that `qd backup now --to` names: in the data directory, where only its owner can write. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { readIfThere, writeWhole } from '../../../../base/files/own/files.ts';

const fileIn = (directory: string) => join(directory, 'backup-request.json');

export interface TargetRequest {
  /** That of the request. */
  readonly id: string;
  readonly to: string;
}

export async function requestTarget(directory: string, request: TargetRequest): Promise<void> {
  await writeWhole(fileIn(directory), JSON.stringify(request));
}

/** Resolves with the target that was named for a request, once; undefined: none was. */
export async function takeRequestedTarget(directory: string, id: string): Promise<string | undefined> {
  const text = await readIfThere(fileIn(directory));
  if (text === undefined) return undefined;
  const request = JSON.parse(text) as TargetRequest;
  if (request.id !== id) return undefined;
  await rm(fileIn(directory), { force: true });
  return request.to;
}
