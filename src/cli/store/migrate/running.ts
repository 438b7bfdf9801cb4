/** Moves the store of a cluster that runs: the program that runs it does, and tells how far it has come. */
import { randomUUID } from 'node:crypto';
import { UnexpectedCode } from '../../../assembly/control-plane/fetch-json.ts';
import { sleep, systemClock } from '../../../base/time/clock.ts';
import { CliError, explain } from '../../output/cli-error.ts';
import { findClusterProcess } from '../../process/cluster-process.ts';
import { callOwnServer } from '../../process/own-server.ts';
import { untilStopSignal } from '../../process/signals.ts';
import { rememberedIn } from '../../up/directory/directory.ts';
import {
  CANCEL_MOVE_PATH,
  MOVE_PATH,
  type MoveRequest,
  type MoveStatus,
  writeRequest,
} from '../../up/store/moving/request.ts';
import { locationOf } from './plan.ts';

/** The program answers at once, and is asked again after this time. */
const INTERVAL_MS = 250;

export async function moveRunning(directory: string, pid: number, request: Omit<MoveRequest, 'id'>): Promise<void> {
  const id = randomUUID();
  const before = await call(directory, MOVE_PATH).catch((cause: unknown) => {
    throw new CliError(`the cluster is running as process ${pid}, and cannot be asked: ${reasonOf(cause)}`, { cause });
  });
  if (before.phase === 'moving' || before.phase === 'restarting')
    throw new CliError('the objects of the cluster are being moved already');
  await writeRequest(directory, { id, ...request });
  let isCancelled = false;
  void untilStopSignal(systemClock).then(() => {
    isCancelled = true;
    return call(directory, CANCEL_MOVE_PATH).catch(() => undefined); // The next question tells what became of it.
  });
  const status = await outcome(directory, id);
  if (status.phase === 'failed') throw new CliError(status.lines.join('\n'));
  for (const line of status.lines) process.stdout.write(`${line}\n`);
  if (isCancelled) process.stdout.write('It was too late to give up.\n');
}

async function outcome(directory: string, id: string): Promise<MoveStatus> {
  let printed = 0;
  for (;;) {
    try {
      const status = await call(directory, MOVE_PATH);
      if (status.id === id && status.phase === 'moving') {
        for (const line of status.lines.slice(printed)) process.stdout.write(`${line}\n`);
        printed = status.lines.length;
      }
      if (status.id === id && (status.phase === 'moved' || status.phase === 'failed')) return status;
    } catch (cause) {
      // A server that starts again does not answer for a moment.
      if (!(await findClusterProcess(directory))) {
        const location = locationOf(await rememberedIn(directory));
        throw new CliError(`the program that runs the cluster has ended; the next qd up uses ${location}`, { cause });
      }
    }
    await sleep(systemClock, INTERVAL_MS);
  }
}

const call = async (directory: string, path: string) =>
  (await callOwnServer(directory, path, { method: 'POST' })) as MoveStatus;

function reasonOf(error: unknown): string {
  if (error instanceof UnexpectedCode && error.code === 404)
    return 'it is of a release that moves no objects while it runs; stop it first: qd down --keep-pods leaves its pods running';
  return explain(error);
}
