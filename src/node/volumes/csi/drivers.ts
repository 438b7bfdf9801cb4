/** Finds the CSI drivers of the node, registers them, and calls them. */
import { join } from 'node:path';
import { PRIVATE_DIRECTORY } from '../../../base/files/own/modes.ts';
import { type FSWatcher, makeDirectory, readdir, stat, watch } from '../../../base/files/own/own-files.ts';
import type { Timer } from '../../../base/time/clock.ts';
import type { Tools } from '../../../base/tools.ts';
import type { Method } from '../../../protocols/grpc/call.ts';
import { GrpcError } from '../../../protocols/grpc/status.ts';
import type { CsiDriverInfo, VolumesApi } from '../api.ts';
import { VolumeError } from '../volumes.ts';
import { callSocket, rpcMessage } from './call.ts';
import { csi, plugin } from './messages.ts';

const CSI_PLUGIN = 'CSIPlugin';
/** Delay after a driver could not be registered. */
const RETRY_MS = 2_000;
/** Timeout for each call of a registration: drivers answer these at once. */
const REGISTRATION_TIMEOUT_MS = 10_000;

/** Error for a driver that is not on the node. */
export class DriverNotFoundError extends VolumeError {}

interface RegisteredDriver {
  /** Identity of the registration socket, which changes when the driver starts again. */
  readonly identity: string;
  readonly name: string;
  readonly endpoint: string;
}

export interface CsiDriversOptions extends Pick<Tools, 'clock' | 'log'> {
  /** The directory that has a socket for each driver. */
  readonly registry: string;
  readonly api: Pick<VolumesApi, 'csiDriverAdded' | 'csiDriverRemoved'>;
}

export class CsiDrivers {
  /** Drivers by registration socket. */
  readonly #known = new Map<string, RegisteredDriver>();
  readonly #onRegistered = new Set<() => void>();
  #scanning: Promise<boolean> = Promise.resolve(true);
  /** The scan that follows the one that is under way. */
  #nextScan: Promise<boolean> | undefined;
  /** Latest addition of a driver to the node. Drivers are added one after the other: they change the same objects. */
  #adding: Promise<void> = Promise.resolve();

  constructor(private readonly options: CsiDriversOptions) {}

  /** Registers drivers as they come and go, until the signal is aborted. */
  async follow(signal: AbortSignal): Promise<void> {
    const { registry, clock, log } = this.options;
    await makeDirectory(registry, PRIVATE_DIRECTORY);
    let retry: Timer | undefined;
    const look = async () => {
      retry?.cancel();
      const isComplete = await this.#scan();
      if (!isComplete && !signal.aborted) retry = clock.timer(RETRY_MS, () => void look());
    };
    let watcher: FSWatcher | undefined;
    try {
      watcher = watch(registry, () => void look());
      watcher.on('error', (error) => log.warn('cannot watch for CSI drivers', { registry, error: String(error) }));
      await look();
      await new Promise<void>((resolve) => {
        if (signal.aborted) resolve();
        signal.addEventListener('abort', () => resolve(), { once: true });
      });
    } finally {
      watcher?.close();
      retry?.cancel();
      await (this.#nextScan ?? this.#scanning);
    }
  }

  /** Calls a driver by name. Rejects with a VolumeError. */
  async call<Request, Response>(
    driver: string,
    method: Method<Request, Response>,
    request: Request,
  ): Promise<Response> {
    const endpoint = await this.#endpoint(driver);
    try {
      return await callSocket(endpoint, { method, request, clock: this.options.clock });
    } catch (error) {
      if (!(error instanceof GrpcError)) throw error;
      throw new VolumeError(rpcMessage(error), { cause: error });
    }
  }

  /** Returns numbers of NodeServiceCapability.RPC.Type. */
  async capabilities(driver: string): Promise<ReadonlySet<number>> {
    const { capabilities } = await this.call(driver, csi.getCapabilities, {});
    return new Set(capabilities.flatMap(({ rpc }) => rpc?.type ?? []));
  }

  async #endpoint(name: string): Promise<string> {
    const endpoint = (await this.#current(name)) ?? (await this.#next(name));
    if (endpoint !== undefined) return endpoint;
    throw new DriverNotFoundError(
      `kubernetes.io/csi: mounter.SetUpAt failed to get CSI client: driver name ${name} not found in the list of registered CSI drivers`,
    );
  }

  /** The endpoint of a driver whose registration has not changed. */
  async #current(name: string): Promise<string | undefined> {
    for (const [socket, driver] of this.#known) {
      if (driver.name === name && (await identityOf(socket)) === driver.identity) return driver.endpoint;
    }
    return undefined;
  }

  /** The endpoint of a driver as soon as it is registered: other sockets may never answer. Undefined when all were tried. */
  #next(name: string): Promise<string | undefined> {
    return new Promise((resolve) => {
      const look = () => {
        const found = [...this.#known.values()].find((driver) => driver.name === name);
        if (found) end(found.endpoint);
      };
      const end = (endpoint: string | undefined) => {
        this.#onRegistered.delete(look);
        resolve(endpoint);
      };
      this.#onRegistered.add(look);
      void this.#scan().then(() => {
        look();
        end(undefined);
      });
    });
  }

  /** Reads the registry anew: drivers come and go while the agent runs. Returns whether all of them are registered. */
  #scan(): Promise<boolean> {
    this.#nextScan ??= this.#scanning.then(() => {
      this.#nextScan = undefined;
      this.#scanning = this.#scanOnce();
      return this.#scanning;
    });
    return this.#nextScan;
  }

  async #scanOnce(): Promise<boolean> {
    const { registry, api, log } = this.options;
    const before = [...this.#known.values()];
    const sockets = (await readdir(registry).catch(() => [])).map((name) => join(registry, name));
    const areRegistered = await Promise.all(sockets.map((socket) => this.#follow(socket)));
    for (const socket of this.#known.keys()) if (!sockets.includes(socket)) this.#known.delete(socket);
    const names = new Set([...this.#known.values()].map(({ name }) => name));
    for (const { name } of before.filter((driver) => !names.has(driver.name))) {
      await api.csiDriverRemoved?.(name).catch((error: unknown) => {
        log.warn('cannot remove a CSI driver from the node', { driver: name, error: String(error) });
      });
    }
    return areRegistered.every(Boolean);
  }

  /** Registers the driver of a socket, unless it is. Returns false when it could not be. */
  async #follow(socket: string): Promise<boolean> {
    const identity = await identityOf(socket);
    if (identity !== undefined && this.#known.get(socket)?.identity === identity) return true;
    this.#known.delete(socket);
    if (identity === undefined) return true;
    try {
      const registered = await this.#register(socket);
      if (!registered) return true;
      this.#known.set(socket, { ...registered, identity });
      for (const look of [...this.#onRegistered]) look();
      return true;
    } catch (error) {
      this.options.log.warn('cannot register a CSI driver', { socket, error: String(error) });
      return false;
    }
  }

  #add(driver: CsiDriverInfo): Promise<void> {
    const adding = this.#adding.then(() => this.options.api.csiDriverAdded?.(driver));
    this.#adding = adding.catch(() => undefined);
    return adding;
  }

  /** Registers a driver; undefined for a plugin of another type. */
  async #register(socket: string): Promise<Omit<RegisteredDriver, 'identity'> | undefined> {
    const { clock, log } = this.options;
    const calling = { clock, timeoutMs: REGISTRATION_TIMEOUT_MS };
    const { type, name, endpoint, versions } = await callSocket(socket, {
      ...calling,
      method: plugin.getInfo,
      request: {},
    });
    if (type !== CSI_PLUGIN) return undefined;
    const notify = (request: { isRegistered: boolean; error?: string }) =>
      callSocket(socket, { ...calling, method: plugin.notify, request });
    const driver = { name, endpoint: endpoint || socket };
    try {
      if (!versions.some((version) => /^v?1\./.test(version))) {
        throw new VolumeError(`None of the versions specified ${JSON.stringify(versions)} are supported`);
      }
      const info = await callSocket(driver.endpoint, { ...calling, method: csi.getInfo, request: {} });
      const { nodeId, maxVolumes, topology } = info;
      await this.#add({ name, nodeId, maxVolumes, topology: topology?.segments ?? {} });
    } catch (error) {
      await notify({ isRegistered: false, error: `RegisterPlugin error -- ${(error as Error).message}` });
      throw error;
    }
    await notify({ isRegistered: true });
    log.info('registered a CSI driver', { driver: name, endpoint });
    return driver;
  }
}

/** Returns the identity of a socket; undefined when there is none. */
async function identityOf(socket: string): Promise<string | undefined> {
  const stats = await stat(socket).catch(() => undefined);
  return stats?.isSocket() ? `${stats.ino}/${stats.mtimeMs}` : undefined;
}
