/** The pods and containers of the contract suite. */
import { chown, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buildImage } from '../../src/node/images/build/build-image.ts';
import type {
  ContainerConfig,
  ContainerResources,
  ContainerSecurity,
  IdMapping,
} from '../../src/node/runtime/container-config.ts';
import type { Container, Runtime } from '../../src/node/runtime/runtime.ts';
import type { SandboxConfig } from '../../src/node/runtime/sandbox-config.ts';

/** Ability that some runtimes lack. */
type Ability =
  /** A network namespace with an address for each pod. */
  | 'pod network'
  /** Limits of memory and processor time, and changing them. */
  | 'resources'
  /** A cgroup around all containers of a pod. */
  | 'pod cgroups'
  /** Namespaces of processes, and names of hosts. */
  | 'namespaces'
  /** Capabilities and a root that cannot be written to. */
  | 'security'
  /** Supplemental groups. */
  | 'groups'
  | 'terminal'
  /** Streams that a command closes while it goes on. */
  | 'closed streams'
  /** Connections to ports that only the client has closed. */
  | 'half-closed ports';

export interface RuntimeUnderTest {
  /** Opens it; again after `close`, on the same files. */
  open(): Promise<Runtime>;
  /** Ends the rest of it, and removes its files. */
  stop(): Promise<void>;
  /** A folder for volumes, logs and archives. */
  readonly directory: string;
  /** The ids of the user namespace that its pods have; undefined: the node's. */
  readonly idMappings?: readonly IdMapping[];
}

/** Missing abilities of a runtime, with the reason. */
export type Lacks = Partial<Readonly<Record<Ability, string>>>;

/** Input of the parts of the contract. */
export interface Subject {
  /** Returns the world, which exists once the suite has started. */
  world(): World;
  readonly lacks: Lacks;
}

export const BUSYBOX = '/bin/busybox';
export const IMAGE = 'docker.io/library/contract:1';

const APPLETS =
  'sh cat echo env false grep head hostname id ls mkdir nc pwd readlink sleep stty tail touch true tr wc yes';

/** Writes an archive with an image of busybox. A note makes it another image; `applets` are further commands. */
export async function writeImage(
  archive: string,
  { name = IMAGE, note = '', applets = [] as readonly string[] } = {},
): Promise<void> {
  await buildImage(
    {
      name,
      architecture: process.arch,
      files: [
        { type: 'copy', path: '/bin/busybox', source: BUSYBOX, mode: 0o755 },
        ...[...APPLETS.split(' '), ...applets].map(
          (applet) => ({ type: 'link', path: `/bin/${applet}`, target: 'busybox' }) as const,
        ),
        {
          type: 'bytes',
          path: '/etc/passwd',
          bytes: Buffer.from('root:x:0:0::/:/bin/sh\nuser:x:1234:1234::/:/bin/sh\n'),
        },
        { type: 'bytes', path: '/etc/group', bytes: Buffer.from('root:x:0:\nuser:x:1234:\n') },
        { type: 'directory', path: '/tmp', mode: 0o1777 },
        { type: 'directory', path: '/work' },
        { type: 'bytes', path: '/note', bytes: Buffer.from(note) },
      ],
      config: {
        env: ['PATH=/bin', 'FROM_IMAGE=yes'],
        entrypoint: ['/bin/echo', 'entrypoint'],
        args: ['from the image'],
        workingDirectory: '/work',
      },
    },
    archive,
  );
}

export const NO_RESOURCES: ContainerResources = {
  cpuShares: undefined,
  cpuQuota: undefined,
  cpuPeriod: undefined,
  memoryBytes: undefined,
  oomScoreAdj: undefined,
  hugepages: [],
  cpusetCpus: undefined,
  unified: undefined,
};

export const PLAIN_SECURITY: ContainerSecurity = {
  privileged: false,
  runAsUser: undefined,
  runAsUsername: undefined,
  runAsGroup: undefined,
  supplementalGroups: [],
  mergesImageGroups: true,
  addCapabilities: [],
  dropCapabilities: [],
  readOnlyRoot: false,
  noNewPrivileges: false,
  seccomp: { type: 'runtime-default' },
  appArmor: undefined,
  selinux: undefined,
  maskedPaths: ['/proc/kcore'],
  readOnlyPaths: ['/proc/sys'],
  pid: 'container',
};

/** Runtime with the image, and pods that it makes. */
export class World {
  readonly #under: RuntimeUnderTest;
  #runtime: Runtime | undefined;
  #imageId = '';
  #pods = 0;
  /** Resolves at the next change. */
  #change = newChange();

  constructor(under: RuntimeUnderTest) {
    this.#under = under;
  }

  get runtime(): Runtime {
    if (!this.#runtime) throw new Error('the runtime is closed');
    return this.#runtime;
  }

  get imageId(): string {
    return this.#imageId;
  }

  path(...names: string[]): string {
    return join(this.#under.directory, ...names);
  }

  /** Makes a folder that root of the pods owns. */
  async folder(name: string): Promise<string> {
    const path = this.path(name);
    await mkdir(path, { recursive: true });
    const owner = this.#under.idMappings?.[0]?.hostId;
    if (owner !== undefined) await chown(path, owner, owner);
    return path;
  }

  async start(): Promise<void> {
    await this.#open();
    await this.load();
  }

  /** Loads the image, again if it was removed. */
  async load(): Promise<void> {
    const archive = this.path('contract.tar');
    await writeImage(archive);
    await this.runtime.images.load(archive);
    this.#imageId = (await this.runtime.images.find(IMAGE))?.id ?? '';
  }

  /** Closes the runtime, calls `meanwhile`, and opens it again. */
  async reopen(meanwhile: () => Promise<void> = async () => {}): Promise<void> {
    await this.runtime.close();
    this.#runtime = undefined;
    await meanwhile();
    await this.#open();
  }

  async removeAll(): Promise<void> {
    for (const { id } of await this.runtime.sandboxes()) {
      await this.runtime.stopSandbox(id);
      await this.runtime.removeSandbox(id);
    }
  }

  async stop(): Promise<void> {
    try {
      await this.#runtime?.close();
    } finally {
      await this.#under.stop();
    }
  }

  sandbox(changes: Partial<SandboxConfig> = {}): SandboxConfig {
    const name = `pod-${++this.#pods}`;
    return {
      pod: { namespace: 'default', name, uid: `uid-${name}` },
      attempt: 0,
      hostname: name,
      logDirectory: this.path('logs', name),
      dns: undefined,
      ports: [],
      labels: { app: name },
      annotations: {},
      namespaces: { network: 'pod', pid: 'container', ipc: 'pod', user: this.#under.idMappings },
      sysctls: {},
      security: {
        privileged: false,
        runAsUser: undefined,
        runAsGroup: undefined,
        supplementalGroups: [],
        seccomp: { type: 'runtime-default' },
        selinux: undefined,
      },
      qosClass: 'Burstable',
      overhead: undefined,
      resources: undefined,
      cgroupResources: undefined,
      runtimeHandler: '',
      ...changes,
    };
  }

  container(changes: Partial<ContainerConfig> = {}): ContainerConfig {
    const { name = 'main', attempt = 0 } = changes;
    return {
      name,
      attempt,
      image: IMAGE,
      imageId: this.#imageId,
      command: undefined,
      args: undefined,
      workingDirectory: undefined,
      env: [],
      mounts: [],
      devices: [],
      labels: { container: name },
      annotations: {},
      logPath: `${name}/${attempt}.log`,
      stdin: false,
      stdinOnce: false,
      tty: false,
      resources: NO_RESOURCES,
      security: PLAIN_SECURITY,
      stopSignal: undefined,
      ...changes,
    };
  }

  /** Starts a container that runs a script, in a new sandbox unless one is given. */
  async run(script: string, changes: Partial<ContainerConfig> = {}, sandbox = this.sandbox()): Promise<TestContainer> {
    const container = await this.create({ command: ['/bin/sh', '-c', script], ...changes }, sandbox);
    await this.runtime.startContainer(container.id);
    return container;
  }

  async create(changes: Partial<ContainerConfig>, sandbox = this.sandbox()): Promise<TestContainer> {
    const sandboxId = await this.runtime.runSandbox(sandbox);
    const id = await this.runtime.createContainer(sandboxId, this.container(changes), sandbox);
    return new TestContainer(this, id, sandboxId);
  }

  /** Resolves with the result of `check` once it is not undefined. It is called again after every reported change. */
  async until<T>(check: () => Promise<T | undefined>): Promise<T> {
    for (;;) {
      const change = this.#change;
      const found = await check();
      if (found !== undefined) return found;
      await change.promise;
    }
  }

  async #open(): Promise<void> {
    this.#runtime = await this.#under.open();
    this.#runtime.onChange(() => {
      this.#change.resolve();
      this.#change = newChange();
    });
  }
}

function newChange(): { readonly promise: Promise<void>; resolve(): void } {
  let resolve = () => {};
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

export class TestContainer {
  readonly #world: World;

  constructor(
    world: World,
    readonly id: string,
    readonly sandboxId: string,
  ) {
    this.#world = world;
  }

  async status(): Promise<Container> {
    const found = await this.#world.runtime.container(this.id);
    if (!found) throw new Error(`the container ${this.id} is gone`);
    return found;
  }

  ended(): Promise<Container> {
    return this.#world.until(async () => {
      const container = await this.status();
      return container.state === 'exited' ? container : undefined;
    });
  }

  /** The text of its log, without times: `stdout F text`. Complete when it has ended. */
  async log(): Promise<string[]> {
    const text = await readFile((await this.status()).logPath, 'utf8');
    return text
      .split('\n')
      .slice(0, -1)
      .map((line) => line.slice(line.indexOf(' ') + 1));
  }

  /** Returns everything that it wrote to standard output until its end. */
  async output(): Promise<string> {
    await this.ended();
    return (await this.log())
      .filter((line) => line.startsWith('stdout '))
      .map((line) => line.slice('stdout F '.length))
      .join('\n');
  }
}
