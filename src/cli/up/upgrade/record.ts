/** `DIR/upgrade.json`: how the last upgrade of a cluster or an agent goes on or has ended. It outlives both programs. */
import { join } from 'node:path';
import type { UpgradeRecord } from '../../../api/machine-upgrade.ts';
import { readIfThere, writeWhole } from '../../../base/files/own/files.ts';
import { findLockHolder, LockHeld, type ProcessLock, takeProcessLock } from '../../../base/programs/process-lock.ts';
import { CliError } from '../../output/cli-error.ts';

const fileIn = (directory: string) => join(directory, 'upgrade.json');
const lockIn = (directory: string) => ({ path: join(directory, 'upgrade.lock'), subject: directory });

const NO_RESULT = 'its process has ended without a result';

/** Rejects while another upgrade of the directory goes on. */
export async function takeUpgradeLock(directory: string): Promise<ProcessLock> {
  try {
    return await takeProcessLock({ ...lockIn(directory), purpose: 'upgrade' });
  } catch (cause) {
    if (!(cause instanceof LockHeld)) throw cause;
    const message = `another upgrade of ${directory} goes on, process ${cause.pid}; wait until it has ended`;
    throw new CliError(message, { cause });
  }
}

export async function writeRecord(directory: string, record: UpgradeRecord): Promise<void> {
  await writeWhole(fileIn(directory), `${JSON.stringify(record, undefined, 2)}\n`);
}

/** Resolves with undefined when there was no upgrade. One whose process was killed has failed. */
export async function readRecord(directory: string): Promise<UpgradeRecord | undefined> {
  const record = await read(directory);
  if (record?.state !== 'running' || (await findLockHolder(lockIn(directory)))) return record;
  // It may have ended between the two.
  const last = await read(directory);
  if (last?.state !== 'running') return last;
  return { ...last, state: 'failed', message: `${NO_RESULT}, after: ${last.message}` };
}

async function read(directory: string): Promise<UpgradeRecord | undefined> {
  const text = await readIfThere(fileIn(directory));
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined; // The next upgrade writes it again.
  }
}
