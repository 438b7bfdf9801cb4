/** Ends and starts the program of a cluster or an agent: as a process in the background, or as a service of systemd. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { writeWhole } from '../../../base/files/own/files.ts';
import { sleep, systemClock } from '../../../base/time/clock.ts';
import { type Cluster, describe } from '../../clusters/find.ts';
import { systemctl } from '../../clusters/service/systemctl.ts';
import { withProgram } from '../../clusters/service/unit-text.ts';
import { installedUnits, type Unit } from '../../clusters/service/units.ts';
import { untilReady } from '../../clusters/service/until-ready.ts';
import { stopCluster } from '../../clusters/stop.ts';
import { CliError, explain } from '../../output/cli-error.ts';
import { findClusterProcess } from '../../process/cluster-process.ts';
import { STOP_SIGNAL } from '../../process/signals.ts';
import { startedAs } from './running.ts';

export interface Runner {
  /** Text that names the program that runs now. */
  readonly former: string;
  /** Ends the program that runs. Pods go on. */
  stop(): Promise<void>;
  /** Starts this program, or the former one, with the flags of that, and resolves with whether it became ready in time. */
  start(program?: string): Promise<boolean>;
}

export interface RunnerOptions {
  /** For the end of a process. */
  readonly stopTimeoutMs: number;
  /** For the start of another program, until it is ready with its nodes. */
  readonly readyTimeoutMs: number;
}

/** For the start of the former program, which has been ready before. */
const FORMER_TIMEOUT_MS = 180_000;

/** Rejects when nothing runs. */
export async function runnerOf(cluster: Cluster, options: RunnerOptions): Promise<Runner> {
  const { directory, kind } = cluster;
  const unit = (await installedUnits()).find((each) => each.directory === directory);
  if (unit) return serviceRunner(unit, options);
  const holder = await findClusterProcess(directory);
  if (holder) return processRunner(holder.pid, cluster, options);
  throw new CliError(
    `${describe(cluster)} is not running: install the release, and start the ${kind === 'agent' ? 'agent' : 'cluster'} with it`,
  );
}

async function processRunner(
  pid: number,
  { directory, kind }: Cluster,
  { stopTimeoutMs, readyTimeoutMs }: RunnerOptions,
): Promise<Runner> {
  const former = await startedAs(pid, kind);
  return {
    former: former.program,
    stop: async () => void (await stopCluster({ directory, timeoutMs: stopTimeoutMs, clock: systemClock })),
    async start(program) {
      const { args, cwd, env } = former;
      const command = [program ?? former.program, ...args, '--detach'];
      const child = spawn(process.execPath, command, { cwd, env, stdio: 'inherit' });
      return (await exitCode(child, program === undefined ? FORMER_TIMEOUT_MS : readyTimeoutMs)) === 0;
    },
  };
}

/** Ends the process after the timeout, and with it the program in the background that it waits for. */
async function exitCode(child: ChildProcess, timeoutMs: number): Promise<number> {
  const stop = new AbortController();
  const ended = once(child, 'exit').then(([code]): number => code ?? 1);
  const late = sleep(systemClock, timeoutMs, stop.signal).then(
    () => child.kill(STOP_SIGNAL),
    () => undefined,
  );
  const first = await Promise.race([ended, late]);
  stop.abort();
  return typeof first === 'number' ? first : 1;
}

async function serviceRunner(unit: Unit, { readyTimeoutMs }: RunnerOptions): Promise<Runner> {
  const former = await readFile(unit.file, 'utf8');
  return {
    former,
    // systemd does it when it starts the service again.
    stop: async () => undefined,
    async start(program) {
      const text = program === undefined ? former : withProgram(former, program);
      if (text === undefined) {
        throw new CliError(
          `the command in ${unit.file} is not one that qd has written: change it, and run systemctl daemon-reload and systemctl restart ${unit.unit}`,
        );
      }
      await writeWhole(unit.file, text);
      try {
        await systemctl('daemon-reload');
        await systemctl('restart', unit.unit);
        const timeoutMs = program === undefined ? FORMER_TIMEOUT_MS : readyTimeoutMs;
        await untilReady(unit, { clock: systemClock, timeoutMs });
        return true;
      } catch (error) {
        process.stderr.write(`${explain(error)}\n`);
        return false;
      }
    },
  };
}
