/** A runtime in memory: containers run until a test ends them, or are stopped. */
import type { Clock } from '../../src/base/time/clock.ts';
import type { SeenPod } from '../../src/node/pod/container-run.ts';
import type { ContainerConfig } from '../../src/node/runtime/container-config.ts';
import { RuntimeError } from '../../src/node/runtime/errors.ts';
import type { Container, ContainerUsage, Image, RunResult, Runtime, Sandbox } from '../../src/node/runtime/runtime.ts';
import type { SandboxConfig } from '../../src/node/runtime/sandbox-config.ts';

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

/** `lost`: the call is never answered. */
export type Fault = 'before' | 'after' | 'lost before' | 'lost after' | undefined;

export interface FakeContainer extends Mutable<Container> {
  readonly config: ContainerConfig;
  readonly sandboxConfig: SandboxConfig;
}

const unused = () => Promise.reject(new RuntimeError('Unsupported', 'not in this runtime'));

export class FakeRuntime implements Runtime {
  readonly version = 'fake://1.0';
  handlers: Runtime['handlers'] = [];
  supplementalGroupsPolicy: boolean | undefined;
  podNetwork: Runtime['podNetwork'];
  ignoredRequests: Runtime['ignoredRequests'];
  /** Calls such as `start web/c/0`. */
  readonly calls: string[] = [];
  readonly present = new Set<string>(['nginx:1']);
  /** Names of commands that fail, with their exit code. */
  readonly failing = new Map<string, number>();
  /** Why calls fail, by the start of the call. */
  readonly broken = new Map<string, Error>();
  /** Reports whether a call fails: before it has done anything, or after it has done everything. May take time. */
  fault: ((call: string) => Fault | Promise<Fault>) | undefined;
  /** Containers that were started, for example `web/c/0`. */
  readonly started: string[] = [];
  /** Violations of the contract: two running containers of one name. */
  readonly doubles: string[] = [];
  health_ = { isReady: true, isNetworkReady: true };
  /** Containers of these names ignore the stop signal, and end when they are killed. */
  /** The memory that every container and every pod uses; undefined: not known. */
  workingSet: number | undefined;
  /** Resources that pods were resized to, by name. */
  readonly sizes = new Map<string, NonNullable<Container['resources']>>();
  readonly stubborn = new Set<string>();
  rejects: string | undefined;
  limitation: string | undefined;
  readonly #clock: Clock;
  readonly #listeners = new Set<(id: string | undefined) => void>();
  readonly #sandboxes = new Map<string, Mutable<Sandbox>>();
  readonly #containers = new Map<string, FakeContainer>();
  #ids = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  readonly images = {
    list: async (): Promise<readonly Image[]> => [...this.present].map(imageOf),
    find: async (reference: string) => (this.present.has(reference) ? imageOf(reference) : undefined),
    pull: async (reference: string) => {
      return this.#perform(`pull ${reference}`, () => {
        this.present.add(reference);
        return reference;
      });
    },
    remove: async (id: string) => void this.present.delete(id),
    load: unused,
    usage: async () => ({ bytes: 0, directory: '/' }),
  };

  rejection(_: SeenPod): string | undefined {
    return this.rejects;
  }

  async health() {
    return this.health_;
  }

  onChange(listener: (id: string | undefined) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  usage = async () => this.#usageOf([...this.#containers.keys()]);
  podUsage = async () => this.#usageOf([...this.#sandboxes.keys()]);
  close = async () => {};

  async runSandbox(config: SandboxConfig): Promise<string> {
    return this.#perform(`run ${config.pod.name}/${config.attempt}`, () => {
      const id = `s${++this.#ids}`;
      this.#sandboxes.set(id, {
        ...{ id, pod: config.pod, attempt: config.attempt, isReady: true, createdAt: this.#clock.now() },
        addresses: config.namespaces.network === 'node' ? [] : [`10.0.0.${this.#ids}`],
        ...{ labels: config.labels, annotations: config.annotations },
      });
      this.#changed(id);
      return id;
    });
  }

  async stopSandbox(id: string): Promise<void> {
    const sandbox = this.#sandboxes.get(id);
    if (!sandbox) return;
    await this.#perform(`stop-sandbox ${sandbox.pod.name}/${sandbox.attempt}`, () => {
      this.#sandboxes.set(id, { ...sandbox, isReady: false, addresses: [] });
      for (const each of [...this.#containers.values()]) if (each.sandboxId === id) this.#end(each, 137);
      this.#changed(id);
    });
  }

  async removeSandbox(id: string): Promise<void> {
    await this.#quietly(`remove-sandbox ${id}`, () => {
      for (const each of [...this.#containers.values()]) if (each.sandboxId === id) this.#containers.delete(each.id);
      this.#sandboxes.delete(id);
      this.#changed(id);
    });
  }

  sandboxes = async () => [...this.#sandboxes.values()];

  async createContainer(sandboxId: string, config: ContainerConfig, sandboxConfig: SandboxConfig): Promise<string> {
    return this.#perform(`create ${sandboxConfig.pod.name}/${config.name}/${config.attempt}`, () =>
      this.#create(sandboxId, config, sandboxConfig),
    );
  }

  #create(sandboxId: string, config: ContainerConfig, sandboxConfig: SandboxConfig): string {
    if (!this.#sandboxes.get(sandboxId)?.isReady) throw new RuntimeError('NotFound', `no sandbox ${sandboxId}`);
    const id = `c${++this.#ids}`;
    const { name, attempt, image, imageId, labels, annotations } = config;
    this.#containers.set(id, {
      ...{ id, sandboxId, name, attempt, image, imageId, labels, annotations, config, sandboxConfig },
      ...{ state: 'created', createdAt: this.#clock.now(), startedAt: undefined, finishedAt: undefined },
      ...{
        exitCode: undefined,
        reason: undefined,
        message: undefined,
        logPath: `/nowhere/${id}.log`,
        resources: undefined,
      },
    });
    return id;
  }

  async startContainer(id: string): Promise<void> {
    const { name, attempt, sandboxConfig } = this.#get(id);
    const subject = `${sandboxConfig.pod.name}/${name}/${attempt}`;
    await this.#perform(`start ${subject}`, () => {
      const container = this.#get(id);
      if (!this.#sandboxes.get(container.sandboxId)?.isReady) throw new RuntimeError('NotFound', 'no sandbox');
      this.started.push(subject);
      const { uid } = sandboxConfig.pod;
      const isDouble = (other: FakeContainer) =>
        other.sandboxConfig.pod.uid === uid && other.name === name && other.state === 'running';
      if ([...this.#containers.values()].some(isDouble)) this.doubles.push(subject);
      this.#change(container, { state: 'running', startedAt: this.#clock.now() });
    });
  }

  async stopContainer(id: string, timeoutSeconds: number): Promise<void> {
    const container = this.#containers.get(id);
    if (container?.state !== 'running') return;
    const { name, attempt, sandboxConfig } = container;
    const isStubborn = this.stubborn.has(name);
    await this.#perform(`stop ${sandboxConfig.pod.name}/${name}/${attempt} ${timeoutSeconds}`, () => {
      const found = this.#containers.get(id);
      if (found && !isStubborn) this.#end(found, 0);
    });
    if (!isStubborn) return;
    await new Promise<void>((resolve) => void this.#clock.timer(timeoutSeconds * 1_000, resolve));
    this.#end(this.#get(id), 137);
  }

  async removeContainer(id: string): Promise<void> {
    await this.#quietly(`remove-container ${id}`, () => {
      this.#containers.delete(id);
      this.#changed(id);
    });
  }

  containers = async () => [...this.#containers.values()];
  container = async (id: string) => this.#containers.get(id);

  async updateSandbox(id: string, resources: NonNullable<Container['resources']>): Promise<void> {
    const { pod } = this.#sandboxes.get(id)!;
    this.#note(`resize-sandbox ${pod.name}`);
    this.sizes.set(pod.name, resources);
  }

  async updateResources(id: string, resources: NonNullable<Container['resources']>): Promise<void> {
    this.#note(`update ${this.#get(id).name}`);
    this.#change(this.#get(id), { resources });
  }

  reopenLog = async () => {};

  async run(id: string, { command }: { readonly command: readonly string[] }): Promise<RunResult> {
    const [name = ''] = command;
    this.calls.push(`exec ${this.#get(id).name} ${name}`);
    const exitCode = this.failing.get(name) ?? 0;
    return { exitCode, stdout: Buffer.from(exitCode === 0 ? '' : 'no'), stderr: Buffer.alloc(0) };
  }

  exec = unused;
  attach = unused;
  portForward = unused;

  /** Ends the newest container of that name, as if its process had exited. */
  exit(pod: string, name: string, exitCode: number): void {
    const newest = this.newest(pod, name);
    if (!newest) throw new Error(`nothing runs of ${pod}/${name}`);
    this.#end(newest, exitCode);
  }

  newest(pod: string, name: string): FakeContainer | undefined {
    return [...this.#containers.values()]
      .filter((each) => each.name === name && each.sandboxConfig.pod.name === pod)
      .sort((a, b) => b.attempt - a.attempt)[0];
  }

  /** Number of sandboxes and containers. */
  get size(): number {
    return this.#sandboxes.size + this.#containers.size;
  }

  /** Kills a sandbox as from outside. */
  killSandboxOf(pod: string): void {
    const sandbox = [...this.#sandboxes.values()].find((each) => each.pod.name === pod && each.isReady);
    if (!sandbox) throw new Error(`${pod} has no sandbox`);
    this.#sandboxes.set(sandbox.id, { ...sandbox, isReady: false });
    for (const each of this.#containers.values()) if (each.sandboxId === sandbox.id) this.#end(each, 137);
    this.#changed(sandbox.id);
  }

  notify(): void {
    this.#changed(undefined);
  }

  /** Names of all pods with a sandbox. */
  get pods(): readonly string[] {
    return [...new Set([...this.#sandboxes.values()].map(({ pod }) => pod.name))];
  }

  /** Containers that run now, for example `web/c/0`. */
  get running(): readonly string[] {
    return [...this.#containers.values()]
      .filter(({ state }) => state === 'running')
      .map(({ sandboxConfig, name, attempt }) => `${sandboxConfig.pod.name}/${name}/${attempt}`);
  }

  #usageOf(ids: readonly string[]): ContainerUsage[] {
    const { workingSet } = this;
    if (workingSet === undefined) return [];
    const nothing = { cpuNanoseconds: 0, rss: undefined, writableBytes: undefined };
    return ids.map((id) => ({ id, time: this.#clock.now(), workingSet, ...nothing }));
  }

  #note(call: string): void {
    this.calls.push(call);
    for (const [start, error] of this.broken) if (call.startsWith(start)) throw error;
  }

  #perform<T>(call: string, effect: () => T): Promise<T> {
    this.#note(call);
    return this.#quietly(call, effect);
  }

  /** Runs a call that is not recorded in `calls`. */
  async #quietly<T>(call: string, effect: () => T): Promise<T> {
    const fault = await this.fault?.(call);
    if (fault === 'lost before') return new Promise(() => {});
    if (fault === 'before') throw new RuntimeError('Unavailable', `${call}: not done`);
    const result = effect();
    if (fault === 'lost after') return new Promise(() => {});
    if (fault === 'after') throw new RuntimeError('Unavailable', `${call}: done, but not answered`);
    return result;
  }

  #get(id: string): FakeContainer {
    const found = this.#containers.get(id);
    if (!found) throw new RuntimeError('NotFound', `no container ${id}`);
    return found;
  }

  #end(container: FakeContainer, exitCode: number): void {
    if (container.state === 'exited') return;
    const reason = exitCode === 0 ? 'Completed' : 'Error';
    this.#change(container, { state: 'exited', exitCode, reason, finishedAt: this.#clock.now() });
  }

  #change(container: FakeContainer, changes: Partial<FakeContainer>): void {
    this.#containers.set(container.id, { ...container, ...changes });
    this.#changed(container.sandboxId);
  }

  #changed(id: string | undefined): void {
    for (const listener of this.#listeners) listener(id);
  }
}

const imageOf = (reference: string): Image => ({
  ...{ id: reference, tags: [reference], digests: [], bytes: 10, user: undefined, isPinned: false },
});
