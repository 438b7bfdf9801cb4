/** One container: starts it, follows it to its end, and removes it. */
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Timer } from '../../../base/time/clock.ts';
import type { ContainerResources } from '../../runtime/container-config.ts';
import { RuntimeError } from '../../runtime/errors.ts';
import type { Container } from '../../runtime/runtime.ts';
import { type ContainerEnd, type ContainerRecord, containerDirectory, containerOf, endOf } from './container-record.ts';
import type { KeeperContext } from './context.ts';
import { readJson, writeAtomically } from './files.ts';
import { Output } from './output.ts';
import { type Launch, readState, type SupervisedState, startSupervisor, watchSupervisor } from './supervisor.ts';

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
      mkdirSync(join(container.directory, 'root'), { recursive: true, mode: 0o711 });
      mkdirSync(join(container.directory, 'layer'));
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
    if (!isSameBoot || !existsSync(join(this.directory, 'alive'))) {
      this.#finished(isSameBoot);
      return;
    }
    this.#open();
  }

  get record(): ContainerRecord {
    return this.#record;
  }

  /** The process of the container, if it runs. */
  get pid(): number | undefined {
    return !this.#end && this.#state?.state === 'running' ? this.#state.pid : undefined;
  }

  get output(): Output | undefined {
    return this.#output;
  }

  get exitCode(): number | undefined {
    return this.#end?.exitCode;
  }

  /** Whether all that another keeper would have to know is on disk. */
  get isSaved(): boolean {
    return this.#saving === undefined;
  }

  view(): Container {
    return containerOf(this.#record, this.#state, this.#end);
  }

  /** `launchOf` gets the names of the streams. */
  async start(launchOf: (streams: string) => Launch): Promise<void> {
    if (this.#record.boot !== undefined)
      throw new RuntimeError('Unknown', `container ${this.#record.id} was started before`);
    this.#save({ ...this.#record, boot: this.#context.boot });
    const { stdin, stdinOnce, tty } = this.#record.config;
    const streams = [
      ...(stdin ? ['stdin'] : []),
      'stdout',
      'stderr',
      ...(tty ? ['control'] : []),
      ...(stdinOnce ? ['once'] : []),
    ];
    const { directory } = this;
    const decided = new Promise<void>((resolve) => {
      this.#onState = resolve;
    });
    try {
      await startSupervisor(directory, launchOf(streams.join(',')), () => this.#open());
    } catch (error) {
      this.#finished(true);
      throw error;
    }
    await decided;
    const state = this.#state as SupervisedState | undefined;
    if (state?.state === 'failed') {
      await this.ended();
      throw new RuntimeError('CannotRun', state.message);
    }
    this.#context.changed(this.#record.sandboxId);
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
    this.#onState?.();
  }

  #supervisorEnded(): void {
    // What it has said last is newer than its file, unless the keeper came later than that.
    const isFinal = this.#state?.state === 'exited' || this.#state?.state === 'failed';
    this.#stateChanged(isFinal ? this.#state : readState(this.directory));
    const { pid, cgroup } = { pid: this.pid, cgroup: this.#record.cgroup };
    // A supervisor that was killed leaves its container, unless the kernel ended it with it.
    if (pid !== undefined) killProcess(pid, 'SIGKILL');
    const leader = this.#state && 'pid' in this.#state ? (this.#state.group ?? this.#state.pid) : undefined;
    if (leader !== undefined) killProcess(-leader, 'SIGKILL');
    this.#context.cgroups?.kill(cgroup);
    const output = this.#output;
    this.#output = undefined;
    void output?.finish().then(() => this.#finished(true));
  }

  #finished(isSameBoot: boolean): void {
    const isOomKilled = (this.#context.cgroups?.oomKills(this.#record.cgroup) ?? 0) > 0;
    this.#end = endOf(this.#state, { isOomKilled, isSameBoot, now: this.#context.clock.now() });
    this.#saveEnd();
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
    this.#context.cgroups?.update(this.#record.cgroup, resources);
    this.#save({ ...this.#record, resources: { ...this.#record.resources, ...defined(resources) } });
  }

  async remove(): Promise<void> {
    await this.stop(0, 'SIGKILL');
    this.#saving?.cancel();
    this.#saving = undefined;
    this.#context.cgroups?.remove(this.#record.cgroup);
    rmSync(this.directory, { recursive: true, force: true });
    this.#context.changed(this.#record.sandboxId);
  }

  /** What cannot be written has not happened. */
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
