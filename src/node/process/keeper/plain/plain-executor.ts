/**
 * Executes pods as plain processes of one user who is not root: nothing separates their files and processes from those of that user. Where
 * the keeper is root, that user is nobody, and a pod has a network namespace.
 */

import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeDirectoriesSync } from '../../../../base/files/own/make-directories.ts';
import { isExecutable } from '../../../../base/programs/is-executable.ts';
import { programText } from '../../../../base/programs/program-text.ts';
import { runProgram } from '../../../../base/programs/run-program.ts';
import type { Cgroups } from '../../../cgroups/cgroups.ts';
import { RuntimeError } from '../../../runtime/errors.ts';
import type { ProcessIdentity } from '../../oci/identity.ts';
import { startPlainCommand } from '../command.ts';
import { ContainerCgroup } from '../container-cgroup.ts';
import type { Command, CommandRequest, ContainerToStart, Executor, Holder, SandboxToHold } from '../executor.ts';
import type { Machine } from '../machine.ts';
import { resizeTerminal, terminalArguments, terminalEnvironment } from '../streams/terminal.ts';
import type { Launch } from '../supervisor/supervisor.ts';
import { SUPERVISOR_HEAD } from '../supervisor/supervisor-head.ts';
import { enteringCgroup } from './enter-cgroup.ts';

export interface PlainExecutorOptions {
  readonly directory: string;
  /** Distinguishes the network namespaces of this runtime from those of others. */
  readonly name: string;
  readonly machine: Machine;
  readonly hasNetwork: boolean;
  /** Undefined: processes are not limited. */
  readonly cgroups: Cgroups | undefined;
}

/** The user `nobody` and the group `nogroup`. */
const NOBODY = 65_534;
const PATH = '/usr/sbin:/usr/bin:/sbin:/bin';
/** Where `ip netns` keeps namespaces. */
const NAMESPACES = '/run/netns';
/** The supervisor of a plain process. */
const SUPERVISOR = programText(new URL('./process.sh', import.meta.url));
/** Runs the arguments that the environment carries: `script` takes a text for the shell, and this one is constant. */
const RUN_ARGUMENTS = programText(new URL('./run-arguments.sh', import.meta.url));

/** The user and the group that plain processes have. */
export function plainUser({ isRoot }: Machine): { readonly uid: number; readonly gid: number } {
  return isRoot
    ? { uid: NOBODY, gid: NOBODY }
    : { uid: process.getuid?.() ?? NOBODY, gid: process.getgid?.() ?? NOBODY };
}

export class PlainExecutor implements Executor {
  readonly #script: string;

  constructor(private readonly options: PlainExecutorOptions) {
    this.#script = join(options.directory, 'process.sh');
    writeFileSync(this.#script, SUPERVISOR_HEAD + SUPERVISOR, { mode: 0o600 });
  }

  async hold({ id, config }: SandboxToHold): Promise<Holder | undefined> {
    const { machine, hasNetwork } = this.options;
    if (!hasNetwork || config.namespaces.network === 'node') return undefined;
    await runProgram([machine.programs.ip!, 'netns', 'add', this.#namespace(id)]);
    return { pid: undefined, namespaces: undefined, netns: join(NAMESPACES, this.#namespace(id)) };
  }

  async release({ id, config }: SandboxToHold): Promise<void> {
    const { machine, hasNetwork } = this.options;
    if (!hasNetwork || config.namespaces.network === 'node') return;
    await runProgram([machine.programs.ip!, 'netns', 'del', this.#namespace(id)]).catch(() => undefined);
  }

  prepare(container: ContainerToStart): Launch {
    const { record, identity } = container;
    checkProgram(identity);
    const command = this.#command(container, identity.command);
    const { tty } = record.config;
    const run = tty ? this.#onTerminal(command) : { command, env: {} };
    return {
      program: '/bin/sh',
      args: [this.#script],
      trailing: [identity.workingDirectory, ...run.command],
      env: [
        `PATH=${PATH}`,
        'SHELL=/bin/sh',
        'LC_ALL=C',
        ...Object.entries(run.env).map(([name, value]) => `${name}=${value}`),
      ],
      streams: tty ? ['idle'] : [],
    };
  }

  async cleanUp(): Promise<void> {}

  async exec(container: ContainerToStart, request: CommandRequest): Promise<Command> {
    const { identity } = container;
    const { directory, tty } = request;
    const command = this.#command(container, request.command);
    const { programs } = this.options.machine;
    makeDirectoriesSync(directory, 0o700);
    const run = tty ? this.#onTerminal(command) : { command, env: {} };
    const env = { PATH, SHELL: '/bin/sh', LC_ALL: 'C', ...run.env, ...terminalEnvironment(directory, request.size) };
    checkProgram({ ...identity, command: request.command });
    const started = await startPlainCommand(run.command, { cwd: identity.workingDirectory, env }, request);
    const resize = (columns: number, rows: number) => resizeTerminal(programs, directory, { columns, rows });
    return { ...started, resize };
  }

  async removeUnknown(known: ReadonlySet<string>): Promise<void> {
    const { machine, hasNetwork } = this.options;
    if (!hasNetwork || !existsSync(NAMESPACES)) return;
    const kept = new Set([...known].map((id) => this.#namespace(id)));
    const own = readdirSync(NAMESPACES).filter((name) => name.startsWith(this.#namespace('')));
    for (const name of own.filter((each) => !kept.has(each)))
      await runProgram([machine.programs.ip!, 'netns', 'del', name]).catch(() => undefined);
  }

  async removeAll(): Promise<void> {}

  /** The cgroup, the network and the user of the pod, before any of its variables can have an effect. */
  #command({ record, identity, sandbox: { holder } }: ContainerToStart, command: readonly string[]): string[] {
    const { cgroups, machine } = this.options;
    const { isRoot, programs } = machine;
    const { noNewPrivileges, dropCapabilities } = record.config.security;
    const isRestricted = noNewPrivileges || dropCapabilities.length > 0;
    const privileges = isRoot ? UNPRIVILEGED : isRestricted ? NO_NEW_PRIVILEGES : [];
    return [
      ...enteringCgroup(cgroups?.entries(ContainerCgroup.innerOf(record.cgroup)) ?? []),
      ...(holder?.netns === undefined ? [] : [programs.nsenter!, `--net=${holder.netns}`, '--']),
      ...(privileges.length === 0 ? [] : [programs.setpriv!, ...privileges, '--']),
      'env',
      '-i',
      ...identity.env,
      ...command,
    ];
  }

  #onTerminal(command: readonly string[]): { command: string[]; env: Record<string, string> } {
    const { script } = this.options.machine.programs;
    if (script === undefined) throw new RuntimeError('Unsupported', 'a terminal needs the program "script"');
    return {
      command: [script, ...terminalArguments(RUN_ARGUMENTS, 'always')],
      env: Object.fromEntries([
        ['QD_ARGUMENTS', String(command.length)],
        ...command.map((argument, i) => [`QD_ARGUMENT_${i}`, argument] as const),
      ]),
    };
  }

  #namespace(id: string): string {
    return `quarterdeck-${this.options.name}-${id.slice(0, 12)}`;
  }
}

/** A process without capabilities can get none after that, be it from files or from programs that belong to root. */
const NO_NEW_PRIVILEGES = ['--no-new-privs'];
const UNPRIVILEGED = [
  `--reuid=${NOBODY}`,
  `--regid=${NOBODY}`,
  '--clear-groups',
  ...NO_NEW_PRIVILEGES,
  '--inh-caps=-all',
  '--bounding-set=-all',
];

/** Throws when there is no such program for the container to run. */
function checkProgram({ command: [program = ''], env, workingDirectory }: ProcessIdentity): void {
  const path = env.find((variable) => variable.startsWith('PATH='))?.slice('PATH='.length) ?? '';
  const folders = program.includes('/') ? [''] : path.split(':');
  const isThere = folders.some((folder) =>
    isExecutable(join(folder.startsWith('/') || folder === '' ? folder : workingDirectory, program)),
  );
  if (isThere) return;
  const why = program.includes('/') ? 'no such file or directory' : 'executable file not found in $PATH';
  throw new RuntimeError('CannotRun', `exec: "${program}": ${why}`);
}
