/**
 * The keeper: one process per runtime that starts containers, writes their logs and serves their streams. It outlives the
 * agent, and can be replaced without harm to what runs: every container has its own supervisor, and pipes with names.
 */

import { readFileSync, rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { withResolvers } from '../../../base/event-loop/with-resolvers.ts';
import { makeDirectoriesSync } from '../../../base/files/own/make-directories.ts';
import { answerCalls } from '../../../base/sockets/keyed-socket/calls.ts';
import { listenAt, makeKey, onOpening } from '../../../base/sockets/keyed-socket/keyed-socket.ts';
import { type Cgroups, openCgroups, openDelegatedCgroups } from '../../cgroups/cgroups.ts';
import { RuntimeError } from '../../runtime/errors.ts';
import { parseRange } from '../network/addresses.ts';
import { openBridge, type PodNetwork } from '../network/bridge.ts';
import {
  type KeeperCalls,
  type KeeperEvent,
  type KeeperFacts,
  keeperSocket,
  type Opening,
  PROTOCOL_VERSION,
} from '../wire/calls.ts';
import { chooseExecutor } from './choose-executor.ts';
import type { KeeperContext } from './context.ts';
import { endLeftCommands, endUnknown } from './end-unknown.ts';
import { Engine } from './engine.ts';
import { writeAtomically } from './files.ts';
import { inspectMachine, type Machine } from './machine.ts';
import { canEnter } from './plain/enter-cgroup.ts';
import { plainUser } from './plain/plain-executor.ts';
import { Sessions } from './streams/sessions.ts';
import { SpareFifos } from './streams/spare-fifos.ts';
import { StreamHub } from './streams/stream-hub.ts';

const LIMITS = ['cpu', 'memory', 'pids'] as const;

export interface KeeperOptions extends Pick<KeeperContext, 'directory' | 'name' | 'podCidr' | 'clock' | 'random'> {
  /** Folders in which programs of the system are looked for; undefined: the usual ones. */
  readonly programs: readonly string[] | undefined;
}

/** Resolves with what resolves when the keeper has ended: it was told to, or nothing is left that needs it. */
export async function startKeeper(options: KeeperOptions): Promise<{ readonly ended: Promise<void> }> {
  const { directory, name, podCidr, random } = options;
  makeDirectoriesSync(join(directory, 'streams'), 0o711);
  endLeftCommands(join(directory, 'streams'), `/quarterdeck-${name}`);
  const machine = inspectMachine(options.programs);
  const { network, why } = await networkOf(machine, name, podCidr);
  const cgroups = await cgroupsOf(machine, name);
  const fifos = new SpareFifos(join(directory, 'spare'));
  const chosen = await chooseExecutor({
    fifos,
    directory,
    name,
    machine,
    cgroups,
    hasNetwork: network !== undefined,
  });
  const { executor, executorName } = chosen;
  const listeners = new Set<(sandboxId: string) => void>();
  const context: KeeperContext = {
    ...options,
    executor,
    executorName,
    fifos,
    machine,
    network,
    cgroups,
    boot: bootId(),
    changed: (sandboxId) => {
      for (const listener of listeners) listener(sandboxId);
    },
  };
  const engine = new Engine(context);
  await endUnknown(context, engine);
  const hub = new StreamHub();
  const facts: KeeperFacts = {
    protocol: PROTOCOL_VERSION,
    pid: process.pid,
    name,
    podCidr,
    executor: executorName,
    runtime: chosen.runtime,
    hasUserNamespaces: chosen.hasUserNamespaces,
    whyNotIsolated: chosen.why,
    hasNetwork: network !== undefined,
    whyNoNetwork: why,
    networkLimitation: network?.limitation,
    limits: LIMITS.filter((name) => cgroups?.controllers.has(name)),
    whyUnlimited: machine.isRoot
      ? 'cgroups cannot be written'
      : cgroups
        ? 'the delegated cgroup has no such controller'
        : 'no cgroup is delegated to the user of the node agent',
    plain: executorName === 'plain' ? plainFacts(machine) : undefined,
    hasHostPorts: machine.programs.nft !== undefined,
    hasTerminals: machine.programs.script !== undefined,
    hasSelinux: machine.hasSelinux,
  };
  const { promise: ended, resolve: end } = withResolvers<void>();
  let connections = 0;
  const quit = () => {
    server.close();
    rmSync(join(directory, names.socket), { force: true });
    end();
  };
  const control = (socket: Socket) => {
    connections++;
    const sessions = new Sessions(context, engine, hub, (stream, result) =>
      send(
        'error' in result
          ? { type: 'ended', stream, error: { code: result.error.code, message: result.error.message } }
          : { type: 'ended', stream, exitCode: result.exitCode },
      ),
    );
    const send: (event: KeeperEvent) => void = answerCalls(socket, withCodes(callsOf(engine, sessions, facts, quit)));
    const onChange = (sandboxId: string) => send({ type: 'changed', sandboxId });
    listeners.add(onChange);
    socket.on('close', () => {
      connections--;
      listeners.delete(onChange);
      sessions.closeAll();
      if (connections === 0 && engine.isIdle()) void leaveNothing(context).then(quit);
    });
    socket.on('end', () => socket.end());
  };
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => undefined);
    onOpening<Opening>(socket, key, (opening) => {
      if (opening.type === 'control') control(socket);
      else hub.arrive(opening.stream, opening.name, socket);
    });
  });
  // Only the owner of the directory can read it, and only where the directory can be seen: no pod can prove itself.
  const names = keeperSocket(directory);
  const key = makeKey(names, random);
  await listenAt(server, names);
  writeAtomically(join(directory, 'keeper.pid'), `${process.pid}\n`);
  return { ended };
}

/** Opens the root of all cgroups, or for another user than root the cgroup that was delegated to it. */
async function cgroupsOf({ isRoot }: Machine, name: string): Promise<Cgroups | undefined> {
  if (isRoot) return openCgroups();
  const delegated = openDelegatedCgroups();
  return delegated && (await canEnter(delegated, `/quarterdeck-${name}`)) ? delegated : undefined;
}

function plainFacts(machine: Machine): KeeperFacts['plain'] {
  const { isRoot, programs, hasCapabilities } = machine;
  return {
    ...plainUser(machine),
    hasNoNewPrivileges: programs.setpriv !== undefined,
    hasNoCapabilities: isRoot || !hasCapabilities,
  };
}

/** Removes what all sandboxes shared. */
async function leaveNothing({ network, cgroups, name, executor }: KeeperContext): Promise<void> {
  await executor.removeAll();
  cgroups?.remove(`/quarterdeck-${name}`);
  await network?.remove();
}

/** Every failure has a code of the runtime contract. */
function withCodes(calls: KeeperCalls): KeeperCalls {
  const coded = Object.entries(calls).map(([name, call]) => {
    const withCode = async (params: never) => {
      try {
        return await call(params);
      } catch (error) {
        throw error instanceof RuntimeError ? error : new RuntimeError('Unknown', (error as Error).message);
      }
    };
    return [name, withCode];
  });
  return Object.fromEntries(coded);
}

function callsOf(engine: Engine, sessions: Sessions, facts: KeeperFacts, quit: () => void): KeeperCalls {
  return {
    facts: async () => facts,
    runSandbox: ({ config }) => engine.runSandbox(config),
    stopSandbox: ({ id }) => engine.stopSandbox(id),
    removeSandbox: ({ id }) => engine.removeSandbox(id),
    sandboxes: async () => [...engine.sandboxes.values()].map((sandbox) => sandbox.view()),
    createContainer: async ({ sandboxId, config, image }) => engine.createContainer(sandboxId, config, image),
    startContainer: ({ id }) => engine.startContainer(id),
    stopContainer: ({ id, timeoutSeconds }) => engine.stopContainer(id, timeoutSeconds),
    removeContainer: ({ id }) => engine.removeContainer(id),
    containers: async () => [...engine.containers.values()].map((container) => container.view()),
    container: async ({ id }) => engine.containers.get(id)?.view(),
    updateSandbox: async ({ id, resources }) => engine.updateSandbox(id, resources),
    updateResources: async ({ id, resources }) => engine.updateResources(id, resources),
    reopenLog: async ({ id }) => engine.container(id).output?.reopen(),
    exec: ({ stream, id, request }) => sessions.exec(stream, id, request),
    attach: ({ stream, id, request }) => sessions.attach(stream, id, request),
    portForward: ({ stream, sandboxId, port }) => sessions.portForward(stream, sandboxId, port),
    resize: async ({ stream, size }) => sessions.resize(stream, size),
    closeStream: async ({ stream }) => sessions.close(stream),
    usage: async () => engine.usage(),
    podUsage: async () => engine.podUsage(),
    quit: async () => quit(),
  };
}

async function networkOf(
  { isRoot, programs: { ip, nft, nsenter } }: Machine,
  name: string,
  podCidr: string,
): Promise<{ network: PodNetwork | undefined; why: string | undefined }> {
  if (!isRoot) return { network: undefined, why: 'the node agent does not run as root' };
  if (ip === undefined || nsenter === undefined) return { network: undefined, why: 'ip or nsenter is not installed' };
  try {
    return {
      network: await openBridge({ name, podCidr, range: parseRange(podCidr), ip, nsenter, nft }),
      why: undefined,
    };
  } catch (error) {
    return { network: undefined, why: (error as Error).message };
  }
}

function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return '';
  }
}
