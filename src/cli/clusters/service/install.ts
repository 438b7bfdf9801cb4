/** `qd service install`. */
import { realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { writeWhole } from '../../../base/files/own/files.ts';
import { makeDirectories } from '../../../base/files/own/make-directories.ts';
import type { Flag } from '../../../base/flag.ts';
import { systemClock } from '../../../base/time/clock.ts';
import { readAgentFile } from '../../agent/agent-file.ts';
import { agentFlags, type GivenAgentFlags } from '../../agent/flags.ts';
import { DEFAULT_NAME, directoryNamed, nameFromEnvironment } from '../../flags/cluster.ts';
import { machineName } from '../../flags/machine-name.ts';
import { CliError } from '../../output/cli-error.ts';
import allocator from '../../process/allocator.json' with { type: 'json' };
import { findClusterProcess } from '../../process/cluster-process.ts';
import { upFlags } from '../../up/flags.ts';
import type { GivenFlags } from '../../up/settings/settle.ts';
import type { InstallFlags } from './flags.ts';
import { givenArguments } from './given-arguments.ts';
import { stateOf, systemctl } from './systemctl.ts';
import { unitText } from './unit-text.ts';
import { type About, isOfSystem, type Unit, unitOf } from './units.ts';
import { logCommand, untilReady } from './until-ready.ts';

const READY_TIMEOUT_MS = 90_000;
/** Other programs of the user can read a unit, and the arguments of its process. */
const TOKEN_FILE = 'join-token';

export async function installCluster(flags: GivenFlags & InstallFlags): Promise<void> {
  if (flags.join !== undefined || flags.token !== undefined) {
    throw new CliError(
      '--join and --token are for the first start alone: join with qd up --detach, stop it with qd down --keep-pods, and install the service without them',
    );
  }
  const isNamed = process.argv.some((arg) => /^--name(=|$)/.test(arg));
  const name = (isNamed ? flags.name : nameFromEnvironment(process.env)) ?? flags.name ?? DEFAULT_NAME;
  const directory = directoryNamed({ name, dataDir: flags.dataDir });
  const named = [`--name=${name}`, `--data-dir=${directory}`];
  const args = ['up', ...named, ...given('up', upFlags, ['--name', '--data-dir', '--detach'])];
  await install({ kind: 'cluster', name, directory }, { args, print: flags.print });
}

export async function installAgent(flags: GivenAgentFlags & InstallFlags): Promise<void> {
  const directory = resolve(flags.dataDir);
  const remembered = await readAgentFile(directory);
  const name = flags.nodeName ?? remembered?.node ?? machineName();
  if ((flags.server ?? remembered?.server) === undefined) {
    throw new CliError('--server is needed: qd token create prints the flags');
  }
  const tokenFile = join(directory, TOKEN_FILE);
  const args = [
    ...['agent', `--data-dir=${directory}`],
    ...given('agent', agentFlags, ['--data-dir', '--detach', '--token']),
    ...(flags.token === undefined ? [] : [`--token-file=${tokenFile}`]),
  ];
  const prepare = async () => {
    if (flags.token === undefined) return;
    await makeDirectories(directory, 0o700);
    await writeWhole(tokenFile, `${flags.token}\n`);
  };
  await install({ kind: 'agent', name, directory }, { args, print: flags.print, prepare });
}

/** What follows `qd service install KIND` on the command line. */
function given(kind: string, flags: readonly Flag[], without: readonly string[]): readonly string[] {
  const args = process.argv.slice(process.argv.indexOf(kind) + 1).filter((arg) => arg !== '--print');
  return givenArguments(args, flags, new Set(without));
}

interface InstallOptions {
  /** Those of `qd`. */
  readonly args: readonly string[];
  readonly print: boolean | undefined;
  readonly prepare?: () => Promise<void>;
}

async function install(about: About, { args, print, prepare }: InstallOptions): Promise<void> {
  const unit = unitOf(about);
  const text = unitText({
    description: about.kind === 'agent' ? `Quarterdeck node ${about.name}` : `Quarterdeck cluster ${about.name}`,
    command: [process.execPath, realpathSync(process.argv[1]!), ...args],
    directory: about.directory,
    environment: { HOME: homedir(), ...allocator },
    wantedBy: isOfSystem() ? 'multi-user.target' : 'default.target',
    about,
  });
  if (print) return void process.stdout.write(text);
  await rejectOther(unit);
  await prepare?.();
  await makeDirectories(join(unit.file, '..'));
  await writeWhole(unit.file, text);
  process.stdout.write(`Wrote ${unit.file}.\n`);
  await systemctl('daemon-reload');
  await systemctl('enable', unit.unit);
  await systemctl('restart', unit.unit);
  await untilReady(unit, { clock: systemClock, timeoutMs: READY_TIMEOUT_MS });
  process.stdout.write(`${unit.unit} is ready; its log: ${logCommand(unit)}\n`);
}

/** A cluster or agent that somebody else has started keeps its directory. */
async function rejectOther({ unit, directory }: Unit): Promise<void> {
  const { pid } = await stateOf(unit);
  const running = await findClusterProcess(directory).catch(() => undefined);
  if (running === undefined || running.pid === pid) return;
  throw new CliError(
    `${directory} is in use by process ${running.pid}, which is not the service: stop it with qd down --keep-pods --data-dir ${directory}`,
  );
}
