/** Sandboxes and containers over CRI. */

import type { Duplex } from 'node:stream';
import { concurrently } from '../../base/event-loop/concurrently.ts';
import type { ProcessStreams } from '../../base/programs/process-streams.ts';
import type { Clock } from '../../base/time/clock.ts';
import type { ContainerConfig, ContainerResources } from '../runtime/container-config.ts';
import type { RuntimeError } from '../runtime/errors.ts';
import type {
  AttachRequest,
  Container,
  Containers,
  ContainerUsage,
  ExecRequest,
  RunRequest,
  RunResult,
  Sandbox,
} from '../runtime/runtime.ts';
import type { SandboxConfig } from '../runtime/sandbox-config.ts';
import type { Connection } from './calls/connection.ts';
import { startError } from './calls/errors.ts';
import { cri } from './calls/methods.ts';
import type { Snapshot } from './changes.ts';
import { containerMessage } from './conversion/container-message.ts';
import { CGROUP_ANNOTATION, OWNER_LABEL } from './conversion/labels.ts';
import { resourcesMessage, sandboxMessage } from './conversion/sandbox-message.ts';
import { seenContainer, seenSandbox, seenUsage } from './conversion/seen.ts';
import type { PodInterfaces } from './network/pod-interfaces.ts';
import type { PodCgroups } from './pod-cgroups.ts';
import { attachTo, execIn, forwardTo } from './streams.ts';

export interface ContainersOptions {
  readonly connection: Connection;
  /** The node whose sandboxes these are. */
  readonly owner: string;
  /** Cgroups of pods; undefined when the runtime decides where the cgroups of containers are. */
  readonly cgroups: PodCgroups | undefined;
  readonly interfaces: PodInterfaces;
  readonly clock: Clock;
  /** Called after a call that has changed something. */
  readonly changed: () => void;
}

/** A sandbox may wait for the network, and for containers to end. */
const SANDBOX_TIMEOUT_MS = 4 * 60_000;
const STOP_MARGIN_MS = 2 * 60_000;
/** Containers whose status is asked for at a time. */
const CONCURRENT_CALLS = 16;

export class CriContainers implements Containers {
  readonly #connection: Connection;
  readonly #owner: string;
  readonly #cgroups: PodCgroups | undefined;
  readonly #interfaces: PodInterfaces;
  readonly #clock: Clock;
  readonly #changed: () => void;
  /** Known sandboxes and containers, which do not change while their state is the same. */
  #sandboxes = new Map<string, Sandbox>();
  #containers = new Map<string, Container>();
  /** Cgroup of each pod by sandbox; undefined for a sandbox made without one. */
  readonly #podCgroups = new Map<string, string | undefined>();

  constructor({ connection, owner, cgroups, interfaces, clock, changed }: ContainersOptions) {
    this.#connection = connection;
    this.#owner = owner;
    this.#cgroups = cgroups;
    this.#interfaces = interfaces;
    this.#clock = clock;
    this.#changed = changed;
  }

  async runSandbox(config: SandboxConfig): Promise<string> {
    const request = { config: this.#message(config), runtimeHandler: config.runtimeHandler };
    this.#cgroups?.create(config);
    const { id } = await this.#change(() => this.#connection.call(cri.runSandbox, request, SANDBOX_TIMEOUT_MS));
    if (config.namespaces.network === 'pod') this.#interfaces.protect(id);
    return id;
  }

  /** A sandbox whose interface cannot be guarded gets no containers. */
  async #protected(sandboxId: string): Promise<void> {
    try {
      await this.#interfaces.whenProtected(sandboxId);
    } catch (error) {
      await this.stopSandbox(sandboxId).catch(() => undefined);
      await this.removeSandbox(sandboxId).catch(() => undefined);
      throw error;
    }
  }

  async stopSandbox(id: string): Promise<void> {
    await this.#change(() => this.#connection.call(cri.stopSandbox, { id }, SANDBOX_TIMEOUT_MS).catch(ignoreGone));
    await this.#interfaces.release(id);
  }

  async removeSandbox(id: string): Promise<void> {
    const cgroup = await this.#cgroupOf(id);
    await this.#change(() => this.#connection.call(cri.removeSandbox, { id }, SANDBOX_TIMEOUT_MS).catch(ignoreGone));
    if (cgroup) this.#cgroups?.remove(cgroup);
    this.#podCgroups.delete(id);
  }

  async sandboxes(): Promise<readonly Sandbox[]> {
    const { items } = await this.#connection.call(cri.listSandboxes, this.#ownFilter());
    const known = this.#sandboxes;
    const found = await inParallel(items, async ({ id, state }) => {
      const before = known.get(id);
      if (before && before.isReady === (state === 'ready')) return before;
      const response = await this.#connection.call(cri.sandboxStatus, { id }).catch(ignoreGone);
      if (response?.status) this.#podCgroups.set(id, response.status.annotations[CGROUP_ANNOTATION]);
      return response?.status && seenSandbox(response.status);
    });
    this.#sandboxes = new Map(found.map((sandbox) => [sandbox.id, sandbox]));
    for (const id of this.#podCgroups.keys()) if (!this.#sandboxes.has(id)) this.#podCgroups.delete(id);
    return found;
  }

  async createContainer(sandboxId: string, config: ContainerConfig, sandbox: SandboxConfig): Promise<string> {
    const surroundings = { sandbox, sandboxId, owner: this.#owner };
    const request = {
      sandboxId,
      config: containerMessage(config, surroundings),
      sandbox: this.#message(sandbox),
    };
    const created = this.#change(() => this.#connection.call(cri.createContainer, request));
    // The guard takes as long as the container.
    const [{ id }] = await Promise.all([created, this.#protected(sandboxId)]);
    return id;
  }

  async startContainer(id: string): Promise<void> {
    this.#cgroups?.anticipateMoves();
    await this.#change(() =>
      this.#connection.call(cri.startContainer, { id }).catch((error: RuntimeError) => {
        throw startError(error);
      }),
    );
  }

  async stopContainer(id: string, timeoutSeconds: number): Promise<void> {
    const limit = timeoutSeconds * 1000 + STOP_MARGIN_MS;
    await this.#change(() => this.#connection.call(cri.stopContainer, { id, timeoutSeconds }, limit).catch(ignoreGone));
  }

  async removeContainer(id: string): Promise<void> {
    await this.#change(() => this.#connection.call(cri.removeContainer, { id }).catch(ignoreGone));
  }

  async containers(): Promise<readonly Container[]> {
    const { containers } = await this.#connection.call(cri.listContainers, this.#ownFilter());
    const known = this.#containers;
    const found = await inParallel(containers, async ({ id, state }) => {
      const before = known.get(id);
      return before && before.state === state && state !== 'unknown' ? before : this.container(id);
    });
    this.#containers = new Map(found.map((container) => [container.id, container]));
    return found;
  }

  async container(id: string): Promise<Container | undefined> {
    const response = await this.#connection.call(cri.containerStatus, { id }).catch(ignoreGone);
    return response?.status && seenContainer(response.status);
  }

  async updateSandbox(id: string, resources: ContainerResources): Promise<void> {
    const cgroup = await this.#cgroupOf(id);
    if (cgroup !== undefined) this.#cgroups?.update(cgroup, resources);
  }

  async updateResources(id: string, resources: ContainerResources): Promise<void> {
    await this.#connection.call(cri.updateResources, { id, linux: resourcesMessage(resources) });
    this.#containers.delete(id);
  }

  async reopenLog(id: string): Promise<void> {
    await this.#connection.call(cri.reopenLog, { id });
  }

  async run(id: string, { command, timeoutMs, maxBytes }: RunRequest): Promise<RunResult> {
    // CRI counts in seconds; a shorter limit cancels the call, which kills the command as well.
    const request = { id, command, timeoutSeconds: Math.ceil(timeoutMs / 1000) };
    const { exitCode, stdout, stderr } = await this.#connection.call(cri.execSync, request, timeoutMs);
    return { exitCode, stdout: stdout.subarray(0, maxBytes), stderr: stderr.subarray(0, maxBytes) };
  }

  async exec(id: string, request: ExecRequest): Promise<ProcessStreams> {
    return execIn(this.#connection, id, request);
  }

  async attach(id: string, request: AttachRequest): Promise<ProcessStreams> {
    return attachTo(this.#connection, id, request);
  }

  async portForward(sandboxId: string, port: number): Promise<Duplex> {
    return forwardTo(this.#connection, sandboxId, port);
  }

  async usage(): Promise<readonly ContainerUsage[]> {
    const { stats } = await this.#connection.call(cri.usage, this.#ownFilter());
    return stats
      .map(seenUsage)
      .filter((usage) => usage !== undefined)
      .map((usage) => ({ ...usage, ...this.#throttling(usage.id) }));
  }

  /** The states of everything, for comparing. */
  async observe(): Promise<Snapshot> {
    const [{ items }, { containers }] = await Promise.all([
      this.#connection.call(cri.listSandboxes, this.#ownFilter()),
      this.#connection.call(cri.listContainers, this.#ownFilter()),
    ]);
    return new Map([
      ...items.map(({ id, state = '' }) => [id, { state, sandboxId: id }] as const),
      ...containers.map(({ id, sandboxId, state = '' }) => [id, { state, sandboxId }] as const),
    ]);
  }

  /** Returns the usage of the listed sandboxes. */
  async podUsage(): Promise<readonly ContainerUsage[]> {
    const time = this.#clock.now();
    return [...this.#podCgroups].flatMap(([id, cgroup]): ContainerUsage[] => {
      const usage = cgroup && this.#cgroups?.usage(cgroup);
      if (!usage) return [];
      const network = this.#cgroups?.network(cgroup, id);
      return [{ id, time, ...usage, writableBytes: undefined, network }];
    });
  }

  /** Reads the throttling of a container, which CRI does not report. */
  #throttling(id: string): Pick<ContainerUsage, 'throttling'> {
    const cgroup = this.#podCgroups.get(this.#containers.get(id)?.sandboxId ?? '');
    const throttling = cgroup && this.#cgroups?.usageIn(cgroup, id)?.throttling;
    return throttling ? { throttling } : {};
  }

  #message(config: SandboxConfig) {
    const sysctls = this.#interfaces.sysctls(config);
    return sandboxMessage({ ...config, sysctls }, { owner: this.#owner, cgroup: this.#cgroups?.pathOf(config) });
  }

  async #cgroupOf(sandboxId: string): Promise<string | undefined> {
    if (!this.#cgroups) return undefined;
    if (!this.#podCgroups.has(sandboxId)) {
      const response = await this.#connection.call(cri.sandboxStatus, { id: sandboxId }).catch(ignoreGone);
      this.#podCgroups.set(sandboxId, response?.status?.annotations[CGROUP_ANNOTATION]);
    }
    return this.#podCgroups.get(sandboxId);
  }

  #ownFilter() {
    return { filter: { labels: { [OWNER_LABEL]: this.#owner } } };
  }

  async #change<T>(call: () => Promise<T>): Promise<T> {
    try {
      return await call();
    } finally {
      this.#changed();
    }
  }
}

/** Ignores that a sandbox or container to stop or remove is gone. */
function ignoreGone(error: RuntimeError): undefined {
  if (error.code !== 'NotFound') throw error;
}

/** Runs some tasks at a time, and returns results in the order of the items, without those that are gone. */
async function inParallel<T, R>(items: readonly T[], task: (item: T) => Promise<R | undefined>): Promise<R[]> {
  const results: (R | undefined)[] = [];
  await concurrently(items, CONCURRENT_CALLS, async (item, index) => {
    results[index] = await task(item);
  });
  return results.filter((result) => result !== undefined);
}
