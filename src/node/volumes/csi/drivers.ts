/** Finds the CSI drivers of the node, and calls them. */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Clock, sleep } from '../../../base/clock.ts';
import type { Method } from '../../../base/grpc/call.ts';
import { GrpcClient } from '../../../base/grpc/client.ts';
import { GrpcError, GrpcStatus } from '../../../base/grpc/status.ts';
import type { Logger } from '../../../base/log.ts';
import { VolumeError } from '../volumes.ts';
import { GetPluginInfo, NodeGetCapabilities, NotifyRegistrationStatus, STAGE_UNSTAGE } from './messages.ts';

const CALL_TIMEOUT_MS = 120_000;
const CSI_PLUGIN = 'CSIPlugin';

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
  readonly clock: Clock;
  readonly log: Logger;
}

export class CsiDrivers {
  readonly #options: CsiDriversOptions;
  /** By registration socket. */
  #known = new Map<string, RegisteredDriver>();

  constructor(options: CsiDriversOptions) {
    this.#options = options;
  }

  /** Calls a driver by name. Rejects with a VolumeError. */
  async call<Request, Response>(
    driver: string,
    method: Method<Request, Response>,
    request: Request,
  ): Promise<Response> {
    const endpoint = await this.#endpoint(driver);
    try {
      return await this.#unary(endpoint, method, request);
    } catch (error) {
      if (!(error instanceof GrpcError)) throw error;
      throw new VolumeError(`rpc error: code = ${codeName(error.code)} desc = ${error.message}`, { cause: error });
    }
  }

  async stagesVolumes(driver: string): Promise<boolean> {
    return (await this.call(driver, NodeGetCapabilities, {})).includes(STAGE_UNSTAGE);
  }

  async #endpoint(name: string): Promise<string> {
    const known = await this.#find(name);
    if (known) return known;
    throw new DriverNotFoundError(
      `kubernetes.io/csi: mounter.SetUpAt failed to get CSI client: driver name ${name} not found in the list of registered CSI drivers`,
    );
  }

  async #find(name: string): Promise<string | undefined> {
    await this.#scan();
    return [...this.#known.values()].find((driver) => driver.name === name)?.endpoint;
  }

  /** Reads the registry anew: drivers come and go while the agent runs. */
  async #scan(): Promise<void> {
    const { registry, log } = this.#options;
    const found = new Map<string, RegisteredDriver>();
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
        const { type, name: driver, endpoint } = await this.#unary(socket, GetPluginInfo, {});
        if (type !== CSI_PLUGIN) continue;
        await this.#unary(socket, NotifyRegistrationStatus, { isRegistered: true, error: '' });
        found.set(socket, { identity, name: driver, endpoint: endpoint || socket });
        log.info('registered a CSI driver', { driver, endpoint });
      } catch (error) {
        log.warn('cannot register a CSI driver', { socket, error: String(error) });
      }
    }
    this.#known = found;
  }

  /** One connection per call: calls are rare, and drivers restart. */
  async #unary<Request, Response>(
    endpoint: string,
    method: Method<Request, Response>,
    request: Request,
  ): Promise<Response> {
    const { clock } = this.#options;
    const timeout = new AbortController();
    const late = sleep(clock, CALL_TIMEOUT_MS, timeout.signal).then(
      () => Promise.reject(new GrpcError(GrpcStatus.DEADLINE_EXCEEDED, 'context deadline exceeded')),
      () => undefined as never,
    );
    const work = this.#callOnce(endpoint, method, request, timeout.signal);
    work.catch(() => {});
    try {
      return await Promise.race([work, late]);
    } finally {
      timeout.abort();
    }
  }

  async #callOnce<Request, Response>(
    endpoint: string,
    method: Method<Request, Response>,
    request: Request,
    signal: AbortSignal,
  ): Promise<Response> {
    const url = new URL(pathToFileURL(endpoint.replace(/^unix:(\/\/)?/, '')).href.replace(/^file:/, 'unix:'));
    const client = await GrpcClient.connect({ url, clock: this.#options.clock, signal });
    const close = () => client.close();
    signal.addEventListener('abort', close, { once: true });
    try {
      return await new Promise((resolve, reject) => {
        client.unary(method, request, (error, response) => (error ? reject(error) : resolve(response as Response)));
      });
    } finally {
      signal.removeEventListener('abort', close);
      close();
    }
  }
}

const CODE_NAMES = new Map(Object.entries(GrpcStatus).map(([name, code]): [number, string] => [code, name]));

/** As Go writes codes: `InvalidArgument`. */
function codeName(code: number): string {
  const words = (CODE_NAMES.get(code) ?? 'UNKNOWN').toLowerCase().split('_');
  return words.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join('');
}
