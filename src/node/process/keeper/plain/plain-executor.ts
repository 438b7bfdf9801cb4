/**
 * Executes pods as plain processes of one user who is not root: nothing separates their files and processes from those of that user. Where
 * the keeper is root, that user is nobody, and a pod has a network namespace.
 */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeDirectoriesSync } from '../../../../base/own-files/make-directories.ts';
import { isExecutable } from '../../../../base/programs/is-executable.ts';
import { runProgram } from '../../../../base/programs/run-program.ts';
import { RuntimeError } from '../../../runtime/errors.ts';
import type { ProcessIdentity } from '../../oci/identity.ts';
import { startPlainCommand } from '../command.ts';
import type { Command, CommandRequest, ContainerToStart, Executor, Holder, SandboxToHold } from '../executor.ts';
import type { Machine } from '../machine.ts';
import type { Launch } from '../supervisor.ts';
import { resizeTerminal, terminalArguments, terminalEnvironment } from '../terminal.ts';
import { PROCESS_SCRIPT } from './process-script.ts';

export interface PlainExecutorOptions {
  readonly directory: string;
  /** Distinguishes the network namespaces of this runtime from those of others. */
  readonly name: string;
  readonly machine: Machine;
  readonly hasNetwork: boolean;
}

/** The user `nobody` and the group `nogroup`. */
const NOBODY = '65534';
const PATH = '/usr/sbin:/usr/bin:/sbin:/bin';
/** Where `ip netns` keeps namespaces. */
const NAMESPACES = '/run/netns';
/** Runs the arguments that the environment carries: `script` takes a text for the shell, and this one is constant. */
const RUN_ARGUMENTS = `i=0; set --; while [ "$i" -lt "$QD_ARGUMENTS" ]; do eval "set -- \\"\\$@\\" \\"\\$QD_ARGUMENT_$i\\""; i=$((i + 1)); done; exec "$@"`;

export class PlainExecutor implements Executor {
  readonly #options: PlainExecutorOptions;
  readonly #script: string;

  constructor(options: PlainExecutorOptions) {
    this.#options = options;
    this.#script = join(options.directory, 'process.sh');
    writeFileSync(this.#script, PROCESS_SCRIPT, { mode: 0o600 });
  }

  async hold({ id, config }: SandboxToHold): Promise<Holder | undefined> {
    const { machine, hasNetwork } = this.#options;
    if (!hasNetwork || config.namespaces.network === 'node') return undefined;
    await runProgram([machine.programs.ip!, 'netns', 'add', this.#namespace(id)]);
    return { pid: undefined, netns: join(NAMESPACES, this.#namespace(id)) };
  }

  async release({ id, config }: SandboxToHold): Promise<void> {
    const { machine, hasNetwork } = this.#options;
    if (!hasNetwork || config.namespaces.network === 'node') return;
    await runProgram([machine.programs.ip!, 'netns', 'del', this.#namespace(id)]).catch(() => undefined);
  }

  prepare({ record, identity, sandbox }: ContainerToStart): Launch {
    checkProgram(identity);
    const command = this.#command(identity, identity.command, sandbox.holder);
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

  async exec({ identity, sandbox }: ContainerToStart, request: CommandRequest): Promise<Command> {
    const { directory, tty } = request;
    const command = this.#command(identity, request.command, sandbox.holder);
    const { programs } = this.#options.machine;
    makeDirectoriesSync(directory, 0o700);
    const run = tty ? this.#onTerminal(command) : { command, env: {} };
    const env = { PATH, SHELL: '/bin/sh', LC_ALL: 'C', ...run.env, ...terminalEnvironment(directory, request.size) };
    checkProgram({ ...identity, command: request.command });
    const started = await startPlainCommand(run.command, { cwd: identity.workingDirectory, env }, request);
    const resize = (columns: number, rows: number) => resizeTerminal(programs, directory, { columns, rows });
    return { ...started, resize };
  }

  async removeAll(): Promise<void> {}

  /** The user and the network of the pod, before any of its variables can have an effect. */
  #command({ env }: ProcessIdentity, command: readonly string[], holder: Holder | undefined): string[] {
    const { isRoot, programs } = this.#options.machine;
    return [
      ...(holder?.netns === undefined ? [] : [programs.nsenter!, `--net=${holder.netns}`, '--']),
      ...(isRoot ? [programs.setpriv!, ...UNPRIVILEGED, '--'] : []),
      'env',
      '-i',
      ...env,
      ...command,
    ];
  }

  #onTerminal(command: readonly string[]): { command: string[]; env: Record<string, string> } {
    const { script } = this.#options.machine.programs;
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
    return `quarterdeck-${this.#options.name}-${id.slice(0, 12)}`;
  }
}

const UNPRIVILEGED = [
  `--reuid=${NOBODY}`,
  `--regid=${NOBODY}`,
  '--clear-groups',
  '--no-new-privs',
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
