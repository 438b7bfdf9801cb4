/** Opens the runtime that runs pods as processes of this machine. */
import { release } from 'node:os';
import type { Tools } from '../../base/tools.ts';
import type { ImageStore } from '../images/image-store.ts';
import { RuntimeError } from '../runtime/errors.ts';
import type { Container, Runtime } from '../runtime/runtime.ts';
import { type ConnectedKeeper, connectKeeper, type KeeperSettings } from './connect/keeper-process.ts';
import { imagesWithHost, resolveImage } from './images-with-host.ts';
import { mountPathProblem } from './mount-paths.ts';
import { ignoredRequests, rejection } from './rejection.ts';
import { collect, openPort, openStreams } from './streams.ts';
import { userNamespaceOf } from './user-namespace-of.ts';
import type { KeeperFacts } from './wire/calls.ts';
import type { KeeperConnection } from './wire/connection.ts';

export interface ProcessRuntimeOptions extends KeeperSettings, Pick<Tools, 'clock' | 'random'> {
  readonly images: ImageStore;
  /** Paths of the node that containers with its files do not see: the data of clusters, and their keys. */
  readonly hidden: () => Promise<readonly string[]>;
  /** True when containers may use the image `host`. */
  readonly allowsHostImage: boolean;
}

const KEEPER_RETRY_MS = 1_000;

/** Connects to what runs in the directory, and starts the keeper if none runs. Rejects with a RuntimeError. */
export async function openProcessRuntime(options: ProcessRuntimeOptions): Promise<Runtime> {
  const { images: store, allowsHostImage, clock, random } = options;
  const listeners = new Set<(sandboxId: string | undefined) => void>();
  const notify = (sandboxId: string | undefined) => {
    for (const listener of listeners) listener(sandboxId);
  };
  let isClosed = false;
  let keeper: ConnectedKeeper | undefined;
  // A keeper that was killed is replaced at once, and takes over what runs.
  const connect = async (): Promise<void> => {
    keeper = undefined;
    try {
      const connected = await connectKeeper(options, notify, () => void connect());
      if (isClosed) connected.connection.close();
      keeper = connected;
      notify(undefined);
    } catch {
      if (!isClosed) clock.timer(KEEPER_RETRY_MS, () => void connect());
    }
  };
  keeper = await connectKeeper(options, notify, () => void connect());
  const { facts } = keeper;
  const connection = (): KeeperConnection => {
    if (!keeper) throw new RuntimeError('Unavailable', 'the keeper of containers is being started');
    return keeper.connection;
  };
  const newStream = () => random.bytes(12).toString('hex');
  const runtime: Runtime = {
    version: `process://${process.versions.node}`,
    images: imagesWithHost(store, allowsHostImage, facts.plain?.uid),
    handlers: [
      {
        name: '',
        recursiveReadOnlyMounts: facts.executor === 'oci' && hasMountAttributes(),
        userNamespaces: facts.hasUserNamespaces,
      },
    ],
    supplementalGroupsPolicy: facts.executor === 'oci',
    limitation: limitationOf(facts),
    podNetwork: facts.hasNetwork ? 'cluster' : 'node',
    rejection: (pod) => rejection(pod, facts, allowsHostImage),
    ignoredRequests: (pod) => ignoredRequests(pod, facts),
    userNamespaceOf: (pod) => userNamespaceOf(pod, facts),
    health: async () =>
      keeper
        ? { isReady: true, isNetworkReady: true }
        : { isReady: false, isNetworkReady: false, message: 'the keeper of containers is not running' },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    usage: async () => connection().call('usage', {}),
    podUsage: async () => connection().call('podUsage', {}),
    async close() {
      isClosed = true;
      keeper?.connection.close();
    },
    runSandbox: async (config) => connection().call('runSandbox', { config }),
    stopSandbox: async (id) => connection().call('stopSandbox', { id }),
    removeSandbox: async (id) => connection().call('removeSandbox', { id }),
    sandboxes: async () => connection().call('sandboxes', {}),
    createContainer: async (sandboxId, config, sandbox) => {
      const problem = mountPathProblem(config);
      if (problem !== undefined) throw new RuntimeError('Unsupported', problem);
      const images = { store, node: process.execPath, hidden: options.hidden };
      const image = await resolveImage(images, config, sandbox.namespaces.user);
      return connection().call('createContainer', { sandboxId, config, image });
    },
    startContainer: async (id) => connection().call('startContainer', { id }),
    stopContainer: async (id, timeoutSeconds) => connection().call('stopContainer', { id, timeoutSeconds }),
    removeContainer: async (id) => connection().call('removeContainer', { id }),
    containers: async () => (await connection().call('containers', {})).map(withAllFields),
    container: async (id) => {
      const container = await connection().call('container', { id });
      return container && withAllFields(container);
    },
    updateSandbox: async (id, resources) => connection().call('updateSandbox', { id, resources }),
    updateResources: async (id, resources) => connection().call('updateResources', { id, resources }),
    reopenLog: async (id) => connection().call('reopenLog', { id }),
    async exec(id, request) {
      const stream = newStream();
      const current = connection();
      return openStreams(current, stream, request, () => current.call('exec', { stream, id, request }));
    },
    async run(id, request) {
      const exec = { command: request.command, stdin: false, stdout: true, stderr: true, tty: false };
      return collect(await runtime.exec(id, exec), request, clock);
    },
    async attach(id, request) {
      const stream = newStream();
      const current = connection();
      return openStreams(current, stream, request, () => current.call('attach', { stream, id, request }));
    },
    async portForward(sandboxId, port) {
      const stream = newStream();
      const current = connection();
      return openPort(current, stream, () => current.call('portForward', { stream, sandboxId, port }));
    },
  };
  return runtime;
}

function limitationOf({
  executor,
  whyNotIsolated,
  hasNetwork,
  whyNoNetwork,
  networkLimitation,
}: KeeperFacts): string | undefined {
  const network = hasNetwork
    ? networkLimitation === undefined
      ? ''
      : ` ${networkLimitation}`
    : ` Pods share the network of the node: ${whyNoNetwork}.`;
  if (executor === 'plain')
    return `Pods are not containers: they are processes of one unprivileged user of the node, because ${whyNotIsolated}.${network}`;
  const users = whyNotIsolated === undefined ? '' : `Root in a pod is root on the node: ${whyNotIsolated}.`;
  return `${users}${network}`.trim() || undefined;
}

/** Since Linux 5.12, a tree of mounts is made read-only at once. */
function hasMountAttributes(): boolean {
  const [major = 0, minor = 0] = release().split('.').map(Number);
  return major > 5 || (major === 5 && minor >= 12);
}

/** JSON leaves out what is undefined. */
function withAllFields(container: Container): Container {
  const { startedAt, finishedAt, exitCode, reason, message, resources } = container;
  return { ...container, startedAt, finishedAt, exitCode, reason, message, resources };
}
