/** Executes pods with an OCI runtime, in containers. */

import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join, posix } from 'node:path';
import { makeDirectoriesSync } from '../../../../base/files/own/make-directories.ts';
import { programText } from '../../../../base/programs/program-text.ts';
import { pauseProgram } from '../../../images/pause/pause-program.ts';
import type { Device } from '../../../runtime/container-config.ts';
import { RuntimeError } from '../../../runtime/errors.ts';
import { containerSpec } from '../../oci/container-spec.ts';
import type { OciMachine } from '../../oci/input.ts';
import { parseMountInfo } from '../../oci/mount-flags.ts';
import { mountsForNode } from '../../oci/mounts.ts';
import { processSpec } from '../../oci/process-spec.ts';
import { PAUSE_PROGRAM, sandboxSpec } from '../../oci/sandbox-spec.ts';
import type { OciDevice } from '../../oci/spec.ts';
import { startCommand } from '../command.ts';
import { ContainerCgroup } from '../container-cgroup.ts';
import type { ContainerRecord } from '../container-record.ts';
import type { Command, CommandRequest, ContainerToStart, Executor, Holder, SandboxToHold } from '../executor.ts';
import type { Programs } from '../machine.ts';
import { openBothEnds } from '../streams/fifo.ts';
import type { SpareFifos } from '../streams/spare-fifos.ts';
import type { Launch } from '../supervisor/supervisor.ts';
import { SUPERVISOR_HEAD } from '../supervisor/supervisor-head.ts';
import type { Layers } from './layers.ts';
import { OciRuntime } from './oci-runtime.ts';
import type { OwnDevices } from './own-devices.ts';
import { PinnedNamespaces } from './pinned-namespaces.ts';
import { makeSources, requireSharedMounts } from './volume-sources.ts';

export interface OciExecutorOptions {
  /** The path of the OCI runtime. */
  readonly program: string;
  /** On this boot only: state of the runtime, and where roots are mounted. Every user can pass through it, and list nothing. */
  readonly runDirectory: string;
  readonly machine: OciMachine;
  readonly programs: Programs;
  readonly layers: Layers;
  readonly devices: OwnDevices;
  readonly fifos: SpareFifos;
  /** True when cgroups limit containers. */
  readonly hasCgroups: boolean;
}

/** Through which the supervisor lets the runtime go on. */
const GATE = 'gate';
const PASSABLE = 0o711;
const READABLE = 0o755;
/** The supervisor of a container: its program says what it does. */
const SUPERVISOR = programText(new URL('./container.sh', import.meta.url));
/** Where the programs of supervisors are. */
const PATH = '/usr/sbin:/usr/bin:/sbin:/bin';

export class OciExecutor implements Executor {
  readonly #runtime: OciRuntime;
  readonly #script: string;
  readonly #pauseRoot: string;
  readonly #pinned: PinnedNamespaces;

  constructor(private readonly options: OciExecutorOptions) {
    const { runDirectory, program } = options;
    this.#script = join(runDirectory, 'container.sh');
    this.#pauseRoot = join(runDirectory, 'pause');
    this.#pinned = new PinnedNamespaces(join(runDirectory, 'ns'), options.programs);
    this.#runtime = new OciRuntime(program, join(runDirectory, 'oci'));
    const inPause = ['proc', 'dev'].map((name) => join(this.#pauseRoot, name));
    const makeDirectory = (path: string, mode: number) => {
      makeDirectoriesSync(path);
      chmodSync(path, mode);
    };
    for (const path of [runDirectory, join(runDirectory, 'roots')]) makeDirectory(path, PASSABLE);
    for (const path of [this.#pauseRoot, ...inPause]) makeDirectory(path, READABLE);
    writeFileSync(this.#script, SUPERVISOR_HEAD + SUPERVISOR, { mode: 0o600 });
    const pause = join(this.#pauseRoot, PAUSE_PROGRAM);
    // Processes that run it keep it from being written.
    if (!existsSync(pause)) writeFileSync(pause, pauseProgram(options.machine.architecture), { mode: 0o755 });
  }

  async hold(sandbox: SandboxToHold): Promise<Holder | undefined> {
    const { id, config } = sandbox;
    if (!this.#pinned.canHold(config)) return this.#holdByProcess(sandbox);
    const namespaces = await this.#pinned.make(id, config);
    return {
      pid: undefined,
      namespaces,
      netns: config.namespaces.network === 'pod' ? join(namespaces, 'net') : undefined,
    };
  }

  /** In a container that waits: what runs in the process namespace of a pod must not see the files of the node. */
  async #holdByProcess({ id, directory, config, cgroup }: SandboxToHold): Promise<Holder | undefined> {
    const { machine, hasCgroups } = this.options;
    const spec = sandboxSpec({
      config,
      root: this.#pauseRoot,
      cgroup: hasCgroups ? join(cgroup, 'pause') : undefined,
      machine,
    });
    if (!spec) return undefined;
    const bundle = join(directory, 'pause');
    mkdirSync(bundle, { mode: 0o700 });
    writeFileSync(join(bundle, 'config.json'), JSON.stringify(spec), { mode: 0o600 });
    const files = { pid: join(bundle, 'pid'), log: join(bundle, 'runtime.log') };
    await this.options.fifos.take(join(directory, 'alive'));
    // The process that waits has it open as long as it lives.
    const alive = openBothEnds(join(directory, 'alive'));
    try {
      await this.#runtime.runDetached(id, bundle, files, alive);
    } finally {
      closeSync(alive);
    }
    const pid = Number(readFileSync(files.pid, 'utf8'));
    const namespaces = `/proc/${pid}/ns`;
    return { pid, namespaces, netns: config.namespaces.network === 'pod' ? `${namespaces}/net` : undefined };
  }

  async release({ id }: SandboxToHold): Promise<void> {
    await Promise.all([this.#runtime.remove(id), this.#pinned.remove(id)]);
  }

  prepare(container: ContainerToStart): Launch {
    const { record, directory } = container;
    const { config, image } = record;
    const { unshare } = this.options.programs;
    const root = this.#rootOf(record);
    const isForNode = mountsForNode(config);
    makeSources(config.mounts);
    if (isForNode) requireSharedMounts(config.mounts, mountsOfNode());
    makeDirectoriesSync(root, PASSABLE);
    writeFileSync(join(directory, 'config.json'), JSON.stringify(this.#specOf(container, root)), { mode: 0o600 });
    for (const [index, lower] of image.layers.entries()) symlinkSync(lower, join(directory, `lower-${index}`));
    const owner = container.sandbox.config.namespaces.user?.[0]?.hostId ?? 0;
    const args = [...this.#layerOf(record, directory, owner)];
    return {
      program: unshare!,
      args: ['--mount', '--propagation', isForNode ? 'unchanged' : 'slave', '/bin/sh', this.#script, root, ...args],
      trailing: [],
      env: [`PATH=${PATH}`, 'SHELL=/bin/sh', 'LC_ALL=C', ...this.#environment(record.id, isForNode)],
      streams: [GATE, ...(config.tty ? ['idle', 'control'] : [])],
    };
  }

  /** The kind of root, its owner and where its writes go. */
  #layerOf({ id, config, image }: ContainerRecord, directory: string, owner: number): string[] {
    const { layers } = this.options;
    return image.directory === '/'
      ? ['host', String(owner), layers.inMemory(id, owner, config.mounts)]
      : ['image', String(owner), layers.onDisk(directory, owner)];
  }

  #specOf({ record, directory, sandbox, identity, processTarget }: ContainerToStart, root: string) {
    const { machine, hasCgroups } = this.options;
    const { config, image } = record;
    return containerSpec({
      config,
      sandbox: sandbox.config,
      identity,
      root,
      isHostImage: image.directory === '/',
      namespaces: sandbox.holder?.namespaces,
      processTarget,
      cgroup: hasCgroups ? ContainerCgroup.innerOf(record.cgroup) : undefined,
      devices: config.devices.map(deviceOf),
      gate: join(directory, GATE),
      devDirectory: this.options.devices.target,
      files: sandbox.files,
      imageDirectories: new Map(Object.entries(image.mounted)),
      hidden: image.hidden,
      mountFlags: mountsOfNode(),
      machine,
    });
  }

  async cleanUp({ record }: Pick<ContainerToStart, 'record'>): Promise<void> {
    await this.#runtime.remove(record.id);
    await this.options.layers.remove(record.id);
    rmSync(this.#rootOf(record), { recursive: true, force: true });
  }

  exec({ record, identity }: ContainerToStart, request: CommandRequest): Promise<Command> {
    const { command, directory, tty } = request;
    const { machine, programs } = this.options;
    const { config } = record;
    makeDirectoriesSync(directory, 0o700);
    const process = processSpec({ config, identity, command, tty, machine });
    writeFileSync(join(directory, 'process.json'), JSON.stringify(process), { mode: 0o600 });
    return startCommand({ ...request, programs, runtime: this.#runtime, id: record.id });
  }

  async removeUnknown(known: ReadonlySet<string>): Promise<void> {
    const unknown = this.#runtime.containers().filter((id) => !known.has(id));
    await Promise.all(unknown.map((id) => this.#runtime.remove(id)));
    await this.#pinned.removeUnknown(known);
  }

  async removeAll(): Promise<void> {
    await Promise.all([this.options.layers.removeAll(), this.#pinned.removeAll()]);
    rmSync(this.options.runDirectory, { recursive: true, force: true });
  }

  #rootOf({ id, config }: ContainerRecord): string {
    const { layers, runDirectory } = this.options;
    return mountsForNode(config) ? layers.rootOf(id) : join(runDirectory, 'roots', id);
  }

  #environment(id: string, isForNode: boolean): string[] {
    const { program, state, keep } = this.#runtime;
    const { source, target } = this.options.devices;
    return [
      ...[`OCI=${program}`, `OCI_STATE=${state}`, `OCI_ID=${id}`, `OCI_KEEP=${keep}`],
      ...[`DEVICES=${source}`, `DEV=${target}`, `PRIVATE=${isForNode ? this.options.layers.memory : ''}`],
    ];
  }
}

const mountsOfNode = () => parseMountInfo(readFileSync('/proc/self/mountinfo', 'utf8'));

function deviceOf({ hostPath, containerPath }: Device): OciDevice {
  const stats = statSync(hostPath);
  const { rdev, mode } = stats;
  if (!stats.isBlockDevice() && !stats.isCharacterDevice())
    throw new RuntimeError('CannotRun', `${hostPath} is not a device`);
  return {
    path: posix.normalize(containerPath),
    type: stats.isBlockDevice() ? 'b' : 'c',
    major: ((rdev >> 8) & 0xfff) | ((Math.floor(rdev / 2 ** 32) & 0xfffff) << 12),
    minor: (rdev & 0xff) | ((rdev >> 12) & 0xfff00),
    fileMode: mode & 0o777,
  };
}
