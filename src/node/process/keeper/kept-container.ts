/** One container: starts it, follows it to its end, and removes it. */

import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { removeTree } from '../../../base/files/inside/remove-tree.ts';
import { makeDirectoriesSync } from '../../../base/files/own/make-directories.ts';
import type { Timer } from '../../../base/time/clock.ts';
import type { ContainerResources } from '../../runtime/container-config.ts';
import { RuntimeError } from '../../runtime/errors.ts';
import type { Container } from '../../runtime/runtime.ts';
import { ContainerCgroup } from './container-cgroup.ts';
import { type ContainerEnd, type ContainerRecord, containerDirectory, containerOf, endOf } from './container-record.ts';
import type { KeeperContext } from './context.ts';
import { readJson, writeAtomically } from './files.ts';
import { Output } from './streams/output.ts';
import { resizeTerminal } from './streams/terminal.ts';
import {
  type Launch,
  readState,
  type SupervisedState,
  startFailure,
  startSupervisor,
  watchSupervisor,
} from './supervisor/supervisor.ts';

/** How long to wait before a record that could not be written is written again, for example on a full disk. */
const SAVE_RETRY_MS = 1_000;

export class KeptContainer {
  readonly directory: string;
  readonly #context: KeeperContext;
  #record: ContainerRecord;
  #state: SupervisedState | undefined;
  #end: ContainerEnd | undefined;
  /** Set while how it ended could not be written. */
  #saving: Timer | undefined;
  #output: Output | undefined;
  readonly #onEnd = new Set<() => void>();
  #onState: (() => void) | undefined;

  private constructor(context: KeeperContext, record: ContainerRecord) {
    this.#context = context;
    this.#record = record;
    this.directory = containerDirectory(context.directory, record.id);
  }

  static create(context: KeeperContext, record: ContainerRecord): KeptContainer {
    const container = new KeptContainer(context, record);
    try {
      makeDirectoriesSync(join(container.directory, 'layer'), 0o700);
      container.#save(record);
    } catch (error) {
      rmSync(container.directory, { recursive: true, force: true });
      throw error;
    }
    return container;
  }

  /** Takes over a container of an earlier keeper. Undefined if its files are not whole. */
  static load(context: KeeperContext, id: string): KeptContainer | undefined {
    const directory = containerDirectory(context.directory, id);
    const record = readJson<ContainerRecord>(join(directory, 'container.json'));
    if (!record) return undefined;
    const container = new KeptContainer(context, record);
    container.#end = readJson<ContainerEnd>(join(directory, 'end'));
    container.#state = readState(directory);
    if (!container.#end && record.boot !== undefined) container.#adopt();
    return container;
  }

  #adopt(): void {
    const isSameBoot = this.#record.boot === this.#context.boot;
    if (isSameBoot && this.#record.executor !== this.#context.executorName) this.#kill();
    else if (isSameBoot && existsSync(join(this.directory, 'alive'))) {
      this.#open();
      return;
    }
    this.#finished(isSameBoot);
  }

  get record(): ContainerRecord {
    return this.#record;
  }

  /** The process of the container, if it runs. */
  get pid(): number | undefined {
    return !this.#end && this.#state?.state === 'running' ? this.#state.pid : undefined;
  }

  /** Undefined where there are none. */
  get cgroup(): ContainerCgroup | undefined {
    const { cgroups } = this.#context;
    return cgroups && new ContainerCgroup(cgroups, this.#record.cgroup);
  }

  get output(): Output | undefined {
    return this.#output;
  }

  get exitCode(): number | undefined {
    return this.#end?.exitCode;
  }

  /** True when all that another keeper needs is on disk. */
  get isSaved(): boolean {
    return this.#saving === undefined;
  }

  view(): Container {
    return containerOf(this.#record, this.#state, this.#end);
  }

  /** `ready` resolves when its pod can have processes. */
  async start(launch: Launch, ready: Promise<void>): Promise<void> {
    this.#save({ ...this.#record, boot: this.#context.boot });
    const { stdin, stdinOnce } = this.#record.config;
    const streams = [...(stdin ? ['stdin'] : []), 'stdout', 'stderr', ...(stdinOnce ? ['once'] : [])];
    const { directory } = this;
    const decided = new Promise<void>((resolve) => {
      this.#onState = resolve;
    });
    try {
      await this.#context.fifos.take(...['alive', ...streams, ...launch.streams].map((name) => join(directory, name)));
      await startSupervisor(directory, launch, streams, async () => {
        await ready;
        this.#open();
      });
    } catch (error) {
      await this.#context.executor.cleanUp({ record: this.#record, directory }).catch(() => undefined);
      this.#finished(true);
      throw error;
    }
    await decided;
    this.#context.fifos.restock();
    const state = this.#state as SupervisedState | undefined;
    if (state?.state === 'failed') {
      await this.ended();
      throw new RuntimeError('CannotRun', startFailure(directory, state));
    }
    this.#context.changed(this.#record.sandboxId);
  }

  /** Throws when it cannot be started (again). */
  checkStartable(): void {
    if (this.#record.boot !== undefined)
      throw new RuntimeError('Unknown', `container ${this.#record.id} was started before`);
  }

  #open(): void {
    const { config, logPath } = this.#record;
    const { directory } = this;
    const { clock } = this.#context;
    this.#output = new Output({ directory, logPath, stdin: config.stdin, stdinOnce: config.stdinOnce, clock });
    watchSupervisor(
      directory,
      (state) => this.#stateChanged(state),
      () => this.#supervisorEnded(),
    );
  }

  #stateChanged(state: SupervisedState | undefined): void {
    this.#state = state;
    // Output before the container runs is that of the OCI runtime, which has its own log.
    if (state?.state === 'running' || state?.state === 'exited') this.#output?.begin();
    this.#onState?.();
  }

  #supervisorEnded(): void {
    // The last message of the supervisor is newer than its file, unless the keeper started after it was sent.
    const isFinal = this.#state?.state === 'exited' || this.#state?.state === 'failed';
    this.#stateChanged(isFinal ? this.#state : readState(this.directory));
    this.#kill();
    const output = this.#output;
    this.#output = undefined;
    // Its cgroup goes with what the OCI runtime knows of it.
    const isOomKilled = (this.cgroup?.oomKills() ?? 0) > 0;
    this.cgroup?.release();
    const cleaned = this.#context.executor.cleanUp({ record: this.#record, directory: this.directory });
    void Promise.all([output?.finish(), cleaned]).then(() => this.#finished(true, isOomKilled));
  }

  /** A supervisor that was killed leaves its container, unless the kernel ended it with it. */
  #kill(): void {
    const { pid } = this;
    if (pid !== undefined) killProcess(pid, 'SIGKILL');
    const leader = this.#state && 'pid' in this.#state ? (this.#state.group ?? this.#state.pid) : undefined;
    if (leader !== undefined) killProcess(-leader, 'SIGKILL');
    this.cgroup?.kill();
  }

  /** Changes the size of its terminal. */
  resize(columns: number, rows: number): void {
    resizeTerminal(this.#context.machine.programs, this.directory, { columns, rows });
  }

  #finished(isSameBoot: boolean, isOomKilled = false): void {
    const failure = this.#state?.state === 'failed' ? startFailure(this.directory, this.#state) : undefined;
    this.#end = endOf(this.#state, { isOomKilled, isSameBoot, failure, now: this.#context.clock.now() });
    this.#saveEnd();
    this.cgroup?.remove();
    for (const listener of this.#onEnd) listener();
    this.#onEnd.clear();
    this.#context.changed(this.#record.sandboxId);
  }

  /** Tries until it succeeds: the exit code is known meanwhile, and must not be lost with this process. */
  #saveEnd(): void {
    this.#saving = undefined;
    if (!existsSync(this.directory)) return;
    try {
      writeAtomically(join(this.directory, 'end'), JSON.stringify(this.#end));
    } catch {
      this.#saving = this.#context.clock.timer(SAVE_RETRY_MS, () => this.#saveEnd());
    }
  }

  /** Resolves when it does not run (any more). */
  ended(): Promise<void> {
    if (this.#end || this.#record.boot === undefined) return Promise.resolve();
    return new Promise((resolve) => this.#onEnd.add(resolve));
  }

  async stop(timeoutSeconds: number, signal: NodeJS.Signals): Promise<void> {
    const { pid } = this;
    if (pid === undefined) return this.ended();
    if (timeoutSeconds > 0) {
      killProcess(pid, signal);
      const timer = this.#context.clock.timer(timeoutSeconds * 1_000, () => killProcess(pid, 'SIGKILL'));
      await this.ended();
      timer.cancel();
      return;
    }
    killProcess(pid, 'SIGKILL');
    await this.ended();
  }

  update(resources: ContainerResources): void {
    this.cgroup?.update(resources);
    this.#save({ ...this.#record, resources: { ...this.#record.resources, ...defined(resources) } });
  }

  async remove(): Promise<void> {
    await this.stop(0, 'SIGKILL');
    this.#saving?.cancel();
    this.#saving = undefined;
    this.cgroup?.remove();
    // Its layer is as deep as the container liked.
    await removeTree(this.directory);
    this.#context.changed(this.#record.sandboxId);
  }

  /** Saves the record; a change that cannot be written has not happened. */
  #save(record: ContainerRecord): void {
    writeAtomically(join(this.directory, 'container.json'), JSON.stringify(record));
    this.#record = record;
  }
}

function defined<T extends object>(value: T): Partial<T> {
  return Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined)) as Partial<T>;
}

function killProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended.
  }
}
