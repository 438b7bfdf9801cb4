/** How `qd store migrate` and the program that runs the cluster talk. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { readIfThere, writeWhole } from '../../../../base/files/own/files.ts';
import type { Settings } from '../../flags.ts';
import type { GivenFlags } from '../../settings/settle.ts';

/** Clients POST here to begin what the file says, and to learn how far it has come. */
export const MOVE_PATH = '/quarterdeck/store-move';
/** Clients POST here to give up a move. */
export const CANCEL_MOVE_PATH = '/quarterdeck/store-move/cancel';

export interface MoveRequest {
  readonly id: string;
  readonly target: Settings['store'];
  readonly given: GivenFlags;
}

export interface MoveStatus {
  /** That of the last request; empty: there was none. */
  readonly id: string;
  /** `restarting`: the objects have been moved, and the server starts again. */
  readonly phase: 'moving' | 'restarting' | 'moved' | 'failed';
  /** Progress, as lines for people. */
  readonly lines: readonly string[];
}

const fileIn = (directory: string) => join(directory, 'store-move.json');

export async function writeRequest(directory: string, request: MoveRequest): Promise<void> {
  await writeWhole(fileIn(directory), JSON.stringify(request));
}

/** Resolves with the request, once; undefined: there is none. */
export async function takeRequest(directory: string): Promise<MoveRequest | undefined> {
  const text = await readIfThere(fileIn(directory));
  if (text === undefined) return undefined;
  await rm(fileIn(directory), { force: true });
  return JSON.parse(text);
}
