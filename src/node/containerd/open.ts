import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { makeDirectories } from '../../base/files/own/make-directories.ts';
import type { Clock } from '../../base/time/clock.ts';
import type { Decoded } from '../../protocols/protobuf/message.ts';
import { openCgroups } from '../cgroups/cgroups.ts';
import { PAUSE_IMAGE, writePauseImage } from '../images/pause/pause-image.ts';
import type { SeenPod } from '../pod/container-run.ts';
import type { Images, Runtime, RuntimeHandler, RuntimeHealth } from '../runtime/runtime.ts';
import { Connection } from './calls/connection.ts';
import { cri } from './calls/methods.ts';
import { Changes } from './changes.ts';
import { type ContainersOptions, CriContainers } from './containers.ts';
import { answersCri, MACHINE_SOCKET } from './features/detect.ts';
import { type Features, featuresOf, handlersOf, plainVersion } from './features/features.ts';
import { rejectionOf } from './features/rejection.ts';
import { CriImages } from './images.ts';
import { loadArchive } from './load/load.ts';
import type { StatusResponse } from './messages/status.ts';
import { writeNetwork } from './network/cni.ts';
import { PodInterfaces } from './network/pod-interfaces.ts';
import type { ContainerdOptions, ContainerdRuntime } from './options.ts';
import { ensureDaemon, findDaemon } from './own/daemon.ts';
import { exists, findProgram } from './own/machine.ts';
import { ownPaths } from './own/paths.ts';
import { PodCgroups } from './pod-cgroups.ts';

/** Connects to a containerd, and starts one if need be. Rejects with RuntimeError. */
export async function openContainerd(options: ContainerdOptions): Promise<ContainerdRuntime> {
  const { clock, log } = options;
  const foreign = await foreignSocket(options);
  const running = foreign === undefined && options.endpoint === 'existing' ? await runningSocket(options) : undefined;
  const socket = foreign ?? running ?? (await ensureDaemon(options)).socket;
  const revive = async () => {
    log.warn('containerd has ended; it is started again');
    await ensureDaemon(options);
  };
  const connection = new Connection({
    socket,
    clock,
    revive: foreign === undefined && running === undefined ? revive : undefined,
  });
  const { name, path, networkNamespace } = options;
  const interfaces = await PodInterfaces.open({ connection, name, path, networkNamespace });
  try {
    return await connected(options, { connection, interfaces }, { socket, isOwn: foreign === undefined });
  } catch (error) {
    interfaces.close();
    connection.close();
    throw error;
  }
}

async function connected(
  options: ContainerdOptions,
  { connection, interfaces }: Pick<ContainerdParts, 'connection' | 'interfaces'>,
  { socket, isOwn }: Pick<ContainerdRuntime, 'socket' | 'isOwn'>,
): Promise<ContainerdRuntime> {
  const { clock, log, name, path } = options;
  const version = await connection.call(cri.version, {});
  const status = await connection.call(cri.status, { verbose: true });
  const settings = settingsOf(status);
  const hostPorts = !isOwn || (await findProgram('iptables', path)) !== undefined;
  await ensurePauseImage(settings.sandboxImage, { connection, clock, directory: options.directory });
  const network = {
    connection,
    clock,
    name,
    hasIptables: hostPorts,
    folder: settings.cniFolder,
    ...ownPaths(options.directory),
  };
  const configureNetwork = async (podCIDRs: readonly string[]) => {
    interfaces.isOwnNetwork = await writeNetwork(network, podCIDRs);
  };
  if (options.podCIDRs.length > 0) await configureNetwork(options.podCIDRs);
  const podNetwork = options.podCIDRs.length === 0 || interfaces.isOwnNetwork ? 'cluster' : 'external';
  await interfaces
    .protectAll()
    .catch((error: unknown) => log.warn('interfaces of pods could not be guarded', { error: String(error) }));
  return new Containerd({
    version: `${version.runtimeName}://${plainVersion(version.runtimeVersion)}`,
    features: featuresOf(version, status, { hostPorts }),
    handlers: handlersOf(status),
    supplementalGroupsPolicy: status.features?.supplementalGroupsPolicy,
    socket,
    isOwn,
    podNetwork,
    connection,
    owner: name,
    cgroups: podCgroups(name, settings.usesSystemdCgroups),
    images: new CriImages({
      connection,
      pauseImage: settings.sandboxImage,
      load: (archive) => loadArchive(archive, { connection, clock, unpacks: true }),
    }),
    interfaces,
    configureNetwork,
    clock,
    log,
  });
}

type Described =
  | 'version'
  | 'handlers'
  | 'podNetwork'
  | 'supplementalGroupsPolicy'
  | 'socket'
  | 'isOwn'
  | 'configureNetwork';

interface ContainerdParts extends Pick<ContainerdRuntime, Described>, Omit<ContainersOptions, 'changed'> {
  readonly features: Features;
  readonly images: Images;
  readonly log: ContainerdOptions['log'];
}

class Containerd extends CriContainers implements ContainerdRuntime {
  readonly version: string;
  readonly limitation: string | undefined;
  readonly handlers: readonly RuntimeHandler[];
  readonly supplementalGroupsPolicy: boolean | undefined;
  readonly socket: string;
  readonly isOwn: boolean;
  readonly podNetwork: Runtime['podNetwork'];
  readonly images: Images;
  readonly configureNetwork: ContainerdRuntime['configureNetwork'];
  readonly #changes: Changes;

  constructor(private readonly parts: ContainerdParts) {
    const { connection, owner, clock, log } = parts;
    const { cgroups, interfaces } = parts;
    super({ connection, owner, clock, cgroups, interfaces, changed: () => this.#changes.hint() });
    this.limitation = parts.interfaces.isOwnNetwork ? interfaces.limitation : undefined;
    this.version = parts.version;
    this.handlers = parts.handlers;
    this.supplementalGroupsPolicy = parts.supplementalGroupsPolicy;
    this.socket = parts.socket;
    this.isOwn = parts.isOwn;
    this.podNetwork = parts.podNetwork;
    this.images = parts.images;
    this.configureNetwork = parts.configureNetwork;
    this.#changes = new Changes({ connection, observe: () => this.observe(), clock, log });
  }

  rejection(pod: SeenPod): string | undefined {
    return rejectionOf(pod, this.parts.features);
  }

  async health(): Promise<RuntimeHealth> {
    const { status } = await this.parts.connection.call(cri.status, {});
    const conditions = status?.conditions ?? [];
    const holds = (wanted: string) => conditions.some(({ type, status }) => type === wanted && status);
    const message = conditions
      .filter(({ status }) => !status)
      .map(({ reason, message }) => `${reason}: ${message}`)
      .join('; ');
    return { isReady: holds('RuntimeReady'), isNetworkReady: holds('NetworkReady'), message: message || undefined };
  }

  onChange(listener: (sandboxId: string | undefined) => void): () => void {
    return this.#changes.on(listener);
  }

  async close(): Promise<void> {
    this.#changes.close();
    this.parts.interfaces.close();
    this.parts.connection.close();
  }
}

/** The socket of a containerd that is not ours; undefined if this node has, or is to have, its own. */
async function foreignSocket({ endpoint, directory, clock }: ContainerdOptions): Promise<string | undefined> {
  if (endpoint === 'own') return undefined;
  if (typeof endpoint === 'object') return endpoint.socket;
  if ((await exists(ownPaths(directory).root)) || !(await exists(MACHINE_SOCKET))) return undefined;
  return (await answersCri(MACHINE_SOCKET, clock)) ? MACHINE_SOCKET : undefined;
}

/** The socket of this node's own containerd; undefined if it does not run. */
async function runningSocket({ directory }: ContainerdOptions): Promise<string | undefined> {
  const paths = ownPaths(directory);
  return (await findDaemon(paths)) ? paths.socket : undefined;
}

/** Returns the cgroups of pods; undefined if systemd manages them, or this process may not write them. */
function podCgroups(name: string, usesSystemd: boolean | undefined): PodCgroups | undefined {
  const cgroups = usesSystemd === false ? openCgroups() : undefined;
  return cgroups && new PodCgroups(cgroups, name);
}

interface Settings {
  readonly sandboxImage: string | undefined;
  readonly cniFolder: string | undefined;
  readonly usesSystemdCgroups: boolean | undefined;
}

/** Configuration of CRI, as JSON. */
interface CriConfig {
  readonly sandboxImage?: string;
  readonly cni?: { readonly confDir?: string };
  readonly containerd?: {
    readonly defaultRuntimeName?: string;
    readonly runtimes?: Readonly<Record<string, { readonly options?: { readonly SystemdCgroup?: boolean } }>>;
  };
}

/** Reads containerd's report on its own configuration. Other runtimes report nothing. */
function settingsOf({ info }: Decoded<typeof StatusResponse>): Settings {
  try {
    const { sandboxImage, cni, containerd } = JSON.parse(info.config ?? '{}') as CriConfig;
    const runtime = containerd?.runtimes?.[containerd.defaultRuntimeName ?? 'runc'];
    const usesSystemdCgroups = runtime && (runtime.options?.SystemdCgroup ?? false);
    return { sandboxImage, cniFolder: cni?.confDir, usesSystemdCgroups };
  } catch {
    return { sandboxImage: undefined, cniFolder: undefined, usesSystemdCgroups: undefined };
  }
}

/** Loads the image that keeps sandboxes alive, under the name that the runtime expects, if it does not have one. */
async function ensurePauseImage(
  name: string | undefined,
  { connection, clock, directory }: { connection: Connection; clock: Clock; directory: string },
): Promise<void> {
  const wanted = name ?? PAUSE_IMAGE;
  const { image } = await connection.call(cri.imageStatus, { image: { image: wanted } });
  if (image) return;
  await makeDirectories(directory);
  // A separate directory: `qd image` may open the runtime while the node is starting.
  const folder = await mkdtemp(join(directory, 'pause-'));
  try {
    const archive = join(folder, 'pause.tar');
    await writePauseImage(archive, process.arch);
    await loadArchive(archive, { connection, clock, as: wanted, unpacks: false });
  } finally {
    await rm(folder, { recursive: true });
  }
}
