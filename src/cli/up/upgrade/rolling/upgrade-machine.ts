/** Hands a package to a machine, and waits until it runs. */
import { MAX_PART_BYTES, type MachineReport, UPGRADE_PATH } from '../../../../api/machine-upgrade.ts';
import { type Clock, sleep } from '../../../../base/time/clock.ts';
import { type Ask, Rejected } from './ask.ts';
import type { PackageFile } from './package-file.ts';

const CHECK_MS = 500;

/** Longer than a release may take that does not start, and the former one after it. */
const MAX_SILENCE_MS = 300_000;

interface UpgradeOptions {
  readonly file: PackageFile;
  readonly clock: Clock;
  /** From the end of the transfer to the end of the upgrade. */
  readonly timeoutMs: number;
}

/** Resolves when the machine runs with the release. Rejects with the reason; the machine has gone back if it could. */
export async function upgradeMachine(ask: Ask, { file, clock, timeoutMs }: UpgradeOptions): Promise<void> {
  const { content, sha256, release } = file;
  const path = `${UPGRADE_PATH}/${sha256}`;
  for (let offset = 0; offset < content.length; offset += MAX_PART_BYTES) {
    const body = content.subarray(offset, offset + MAX_PART_BYTES);
    await ask({ method: 'PUT', path: `${path}?offset=${offset}`, body });
  }
  await ask({ method: 'POST', path });
  const deadline = clock.now() + timeoutMs;
  let problem = 'it has not ended';
  let heardAt = clock.now();
  while (clock.now() < deadline) {
    await sleep(clock, CHECK_MS);
    const report = await reportOf(ask).catch((error: Error) => {
      // The program stops and starts meanwhile.
      problem = error.message;
    });
    if (report) heardAt = clock.now();
    else if (clock.now() - heardAt > MAX_SILENCE_MS) throw new Error(silent(problem));
    const last = report?.last;
    if (!report || last?.package !== sha256) continue;
    if (last.state === 'running') problem = last.message;
    else if (last.state !== 'succeeded') throw new Error(last.message);
    else if (report.version === release.version) return;
    else problem = `it runs ${report.version}`;
  }
  throw new Error(`the upgrade is not complete after ${Math.round(timeoutMs / 1_000)} s: ${problem}`);
}

const silent = (problem: string) =>
  `it has not answered for ${MAX_SILENCE_MS / 60_000} minutes (${problem}): probably neither release starts; upgrade.json and upgrade.log in its data directory say more`;

async function reportOf(ask: Ask): Promise<MachineReport> {
  const report = (await ask({ method: 'GET', path: UPGRADE_PATH })) as Partial<MachineReport>;
  if (typeof report.version === 'string') return report as MachineReport;
  throw new Rejected(200, 'the machine did not say what it runs');
}
