/** Takes a package for the program of a data directory, and starts the upgrade to it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type FileHandle, open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ApiError, badRequest } from '../../../../api/errors.ts';
import type { MachineReport, UpgradePort } from '../../../../api/machine-upgrade.ts';
import { PRIVATE_FILE } from '../../../../base/files/own/modes.ts';
import type { Logger } from '../../../../base/log.ts';
import { READY } from '../../../process/background/ready.ts';
import { version } from '../../../process/version.ts';
import { sha256Of } from '../package.ts';
import { readRecord } from '../record.ts';

const MAX_PACKAGE_BYTES = 256 * 1024 * 1024;

export interface PackageReceiverOptions {
  /** The data directory of the program. */
  readonly directory: string;
  /** False when a flag of the machine forbids it. */
  readonly isOn: boolean;
  readonly log: Logger;
  /** Resolves with why no server of the cluster may stop now. */
  readonly obstacle?: () => Promise<string | undefined>;
  /** Runs `qd upgrade` with a file. Rejects with the reason when it does not begin. */
  readonly start?: (file: string) => Promise<void>;
}

type Part = Parameters<UpgradePort['receive']>[0];

export function packageReceiver(options: PackageReceiverOptions): UpgradePort {
  const { directory, isOn, log } = options;
  const start = options.start ?? ((file: string) => startUpgrade(file, directory));
  const [partial, complete] = [join(directory, 'upgrade.part'), join(directory, 'upgrade.tgz')];
  /** The package whose parts are in the file. */
  let receiving: { readonly sha256: string; readonly bytes: number } | undefined;
  let previous: Promise<unknown> = Promise.resolve();
  /** Performs one after the other: parts of two clients would be mixed. */
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    if (!isOn) return Promise.reject(new ApiError('Forbidden', SWITCHED_OFF));
    const done = previous.then(work);
    previous = done.catch(() => undefined);
    return done;
  };

  async function receive({ sha256, offset, content }: Part): Promise<void> {
    const bytes = offset === 0 ? 0 : receiving?.sha256 === sha256 ? receiving.bytes : undefined;
    if (bytes !== offset) throw new ApiError('Conflict', `expected the bytes from ${bytes ?? 0} on, and got ${offset}`);
    if (offset + content.length > MAX_PACKAGE_BYTES) {
      await rm(partial, { force: true });
      throw new ApiError('RequestEntityTooLarge', `a package has at most ${MAX_PACKAGE_BYTES} bytes`);
    }
    receiving = undefined;
    const file = await open(partial, offset === 0 ? 'w' : 'a', PRIVATE_FILE);
    await writeAndClose(file, content);
    receiving = { sha256, bytes: offset + content.length };
  }

  async function begin(sha256: string): Promise<void> {
    if (receiving?.sha256 === sha256) {
      receiving = undefined;
      const found = await sha256Of(partial);
      if (found !== sha256) throw badRequest(`the SHA-256 of the package is ${found}; send it again`);
      await rename(partial, complete);
    } else if ((await sha256Of(complete).catch(() => undefined)) !== sha256) {
      throw new ApiError('Conflict', `package ${sha256} was not sent, or not since this program was started`);
    }
    log.info('an administrator of the cluster upgrades this machine', { package: sha256 });
    await start(complete);
  }

  return {
    async report(): Promise<MachineReport> {
      const [last, obstacle] = await Promise.all([readRecord(directory), options.obstacle?.()]);
      return { version, accepts: isOn ? 'yes' : 'off', ...(last && { last }), ...(obstacle && { obstacle }) };
    },
    receive: (part) => inTurn(() => receive(part)),
    start: (sha256) => inTurn(() => begin(sha256)),
  };
}

const SWITCHED_OFF =
  'this machine takes no packages from administrators of the cluster (--remote-upgrades=false): run qd upgrade there';

async function writeAndClose(file: FileHandle, content: Buffer): Promise<void> {
  try {
    await file.writeFile(content);
  } finally {
    await file.close();
  }
}

/** It runs in a session of its own, and ends the program that has started it. */
async function startUpgrade(file: string, directory: string): Promise<void> {
  const path = join(directory, 'upgrade.log');
  const log = await open(path, 'w', PRIVATE_FILE);
  try {
    const args = [...process.execArgv, process.argv[1]!, 'upgrade', file, '--data-dir', directory];
    const stdio = ['ignore', log.fd, log.fd, 'ipc'] as const;
    const child = spawn(process.execPath, args, { detached: true, cwd: '/', stdio: [...stdio] });
    const outcome = await Promise.race([
      once(child, 'message').then(([message]) => message),
      once(child, 'exit').then(([code]) => `exit code ${code}`),
    ]);
    if (child.connected) child.disconnect();
    child.unref();
    if (outcome === READY) return;
    const said = (await readFile(path, 'utf8')).split('\n').find((line) => line.startsWith('qd: '));
    throw new ApiError('Conflict', said?.slice('qd: '.length) ?? `the upgrade did not begin: ${outcome}; see ${path}`);
  } finally {
    await log.close();
  }
}
