/** Finds the CSI drivers of the node, registers them, and calls them. */
import { type FSWatcher, watch } from 'node:fs';
import { mkdir, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Method } from '../../../base/grpc/call.ts';
import { GrpcError } from '../../../base/grpc/status.ts';
import type { Logger } from '../../../base/log.ts';
import type { Clock, Timer } from '../../../base/time/clock.ts';
import type { VolumesApi } from '../api.ts';
import { VolumeError } from '../volumes.ts';
import { callSocket, rpcMessage } from './call.ts';
import { csi, plugin } from './messages.ts';

const CSI_PLUGIN = 'CSIPlugin';
/** After a driver could not be registered. */
const RETRY_MS = 2_000;

/** No driver of this name is on the node. */
export class DriverNotFoundError extends VolumeError {}

interface RegisteredDriver {
  /** Of the registration socket, which changes when the driver starts again. */
  readonly identity: string;
  readonly name: string;
  readonly endpoint: string;
}

export interface CsiDriversOptions {
  /** The directory that has a socket for each driver. */
  readonly registry: string;
  readonly api: Pick<VolumesApi, 'csiDriverAdded' | 'csiDriverRemoved'>;
  readonly clock: Clock;
  readonly log: Logger;
}

export class CsiDrivers {
  readonly #options: CsiDriversOptions;
  /** By registration socket. */
  #known = new Map<string, RegisteredDriver>();
  #scanning: Promise<boolean> = Promise.resolve(true);

  constructor(options: CsiDriversOptions) {
    this.#options = options;
  }

  /** Registers drivers as they come and go, until the signal is aborted. */
  async follow(signal: AbortSignal): Promise<void> {
    const { registry, clock, log } = this.#options;
    await mkdir(registry, { recursive: true, mode: 0o750 });
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
      await this.#scanning;
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
      return await callSocket(endpoint, { method, request, clock: this.#options.clock });
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
    await this.#scan();
    const known = [...this.#known.values()].find((driver) => driver.name === name)?.endpoint;
    if (known) return known;
    throw new DriverNotFoundError(
      `kubernetes.io/csi: mounter.SetUpAt failed to get CSI client: driver name ${name} not found in the list of registered CSI drivers`,
    );
  }

  /** Reads the registry anew: drivers come and go while the agent runs. Returns whether all of them are registered. */
  #scan(): Promise<boolean> {
    this.#scanning = this.#scanning.then(() => this.#scanOnce());
    return this.#scanning;
  }

  async #scanOnce(): Promise<boolean> {
    const { registry, api, log } = this.#options;
    const found = new Map<string, RegisteredDriver>();
    let isComplete = true;
    for (const name of await readdir(registry).catch(() => [])) {
      const socket = join(registry, name);
      const stats = await stat(socket).catch(() => undefined);
      if (!stats?.isSocket()) continue;
      const identity = `${stats.ino}/${stats.mtimeMs}`;
      const before = this.#known.get(socket);
      if (before?.identity === identity) {
        found.set(socket, before);
        continue;
      }
      try {
        const registered = await this.#register(socket);
        if (registered) found.set(socket, { ...registered, identity });
      } catch (error) {
        isComplete = false;
        log.warn('cannot register a CSI driver', { socket, error: String(error) });
      }
    }
    const names = new Set([...found.values()].map(({ name }) => name));
    const gone = [...this.#known.values()].filter(({ name }) => !names.has(name));
    this.#known = found;
    for (const { name } of gone) {
      await api.csiDriverRemoved?.(name).catch((error: unknown) => {
        log.warn('cannot remove a CSI driver from the node', { driver: name, error: String(error) });
      });
    }
    return isComplete;
  }

  /** Undefined for a plugin of another type. */
  async #register(socket: string): Promise<Omit<RegisteredDriver, 'identity'> | undefined> {
    const { api, clock, log } = this.#options;
    const { type, name, endpoint, versions } = await callSocket(socket, { method: plugin.getInfo, request: {}, clock });
    if (type !== CSI_PLUGIN) return undefined;
    const notify = (request: { isRegistered: boolean; error?: string }) =>
      callSocket(socket, { method: plugin.notify, request, clock });
    const driver = { name, endpoint: endpoint || socket };
    try {
      if (!versions.some((version) => /^v?1\./.test(version))) {
        throw new VolumeError(`None of the versions specified ${JSON.stringify(versions)} are supported`);
      }
      const info = await callSocket(driver.endpoint, { method: csi.getInfo, request: {}, clock });
      const { nodeId, maxVolumes, topology } = info;
      await api.csiDriverAdded?.({ name, nodeId, maxVolumes, topology: topology?.segments ?? {} });
    } catch (error) {
      await notify({ isRegistered: false, error: `RegisterPlugin error -- ${(error as Error).message}` });
      throw error;
    }
    await notify({ isRegistered: true });
    log.info('registered a CSI driver', { driver: name, endpoint });
    return driver;
  }
}
