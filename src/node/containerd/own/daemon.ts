/** Starts the containerd of a node, finds it again, and ends it. */

import { type ChildProcess, spawn } from 'node:child_process';
import { open, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ifMissing } from '../../../base/files/if-missing.ts';
import { makeDirectories } from '../../../base/files/own/make-directories.ts';
import { underHostName } from '../../../base/programs/host-name.ts';
import { withoutInherited } from '../../../base/programs/inherited-descriptors.ts';
import { type ProcessIdentity, processIdentity } from '../../../base/programs/process-identity.ts';
import { type Clock, sleep } from '../../../base/time/clock.ts';
import { PAUSE_IMAGE } from '../../images/pause/pause-image.ts';
import { hostsOf, type RegistrySettings } from '../../images/registry/hosts.ts';
import { RuntimeError } from '../../runtime/errors.ts';
import { Connection } from '../calls/connection.ts';
import { cri } from '../calls/methods.ts';
import type { ContainerdOptions } from '../options.ts';
import { baseSpecOf, containerdConfig, type Tables, toml } from './config-file.ts';
import { findProgram, type Machine, probeMachine, systemPath } from './machine.ts';
import { type OwnPaths, ownPaths } from './paths.ts';

export type DaemonOptions = Omit<ContainerdOptions, 'endpoint' | 'name' | 'podCIDRs'>;

const START_TIMEOUT_MS = 30_000;
const STOP_TIMEOUT_MS = 10_000;
const POLL_MS = 25;
const MAX_LOG_BYTES = 10 * 2 ** 20;
const LOG_EXCERPT_BYTES = 2000;

/** Makes sure that the containerd runs, with the configuration that fits the machine and the options. */
export async function ensureDaemon(options: DaemonOptions): Promise<OwnPaths> {
  const { clock, log } = options;
  const paths = ownPaths(options.directory);
  const machine = await prepare(paths, options);
  const running = await findDaemon(paths);
  const hasChanged = await writeConfiguration(paths, machine, options);
  if (running && !hasChanged && (await answers(paths, clock))) return paths;
  if (running) {
    log.info('containerd is restarted', { pid: running.pid, reason: hasChanged ? 'configuration' : 'no answer' });
    await endDaemon(paths, clock);
  }
  await launch(paths, machine, options);
  return paths;
}

/** Returns the running containerd; undefined if it has ended. */
export async function findDaemon(paths: OwnPaths): Promise<ProcessIdentity | undefined> {
  const text = await readFile(paths.identity, 'utf8').catch(ifMissing);
  if (!text) return undefined;
  const known = JSON.parse(text) as ProcessIdentity;
  const now = await processIdentity(known.pid);
  return now.started !== '' && now.boot === known.boot && now.started === known.started ? now : undefined;
}

/** Ends containerd, but not its containers. Resolves when the process is gone. */
export async function endDaemon(paths: OwnPaths, clock: Clock): Promise<void> {
  const running = await findDaemon(paths);
  if (!running) return;
  process.kill(running.pid, 'SIGTERM');
  const deadline = clock.now() + STOP_TIMEOUT_MS;
  while (await findDaemon(paths)) {
    if (clock.now() > deadline) process.kill(running.pid, 'SIGKILL');
    await sleep(clock, POLL_MS);
  }
  await rm(paths.identity, { force: true });
}

async function prepare(paths: OwnPaths, { path }: DaemonOptions): Promise<Machine> {
  for (const folder of [paths.root, paths.cniConfiguration, paths.registries, dirname(paths.socket)]) {
    await makeDirectories(folder, 0o711);
  }
  return probeMachine({ path, root: paths.root });
}

/** Returns whether a file has changed that containerd reads when it starts. */
async function writeConfiguration(paths: OwnPaths, machine: Machine, options: DaemonOptions): Promise<boolean> {
  await rm(paths.registries, { recursive: true, force: true });
  const { registries = { mirrors: {}, insecure: [] } } = options;
  for (const registry of configuredRegistries(registries)) {
    const folder = join(paths.registries, registry);
    await makeDirectories(folder);
    await writeFile(join(folder, 'hosts.toml'), hostsFile(registry, registries));
  }
  const { streamAddress = '127.0.0.1' } = options;
  const config = containerdConfig({ paths, machine, sandboxImage: PAUSE_IMAGE, streamAddress });
  const { defaultSpec } = machine;
  const changes = [
    ...(defaultSpec === undefined ? [] : [await replace(paths.baseSpec, baseSpecOf(defaultSpec))]),
    await replace(paths.config, config),
  ];
  return changes.includes(true);
}

/** Returns whether it was another one. */
async function replace(path: string, text: string): Promise<boolean> {
  if ((await readFile(path, 'utf8').catch(ifMissing)) === text) return false;
  await writeFile(path, text);
  return true;
}

async function launch(paths: OwnPaths, machine: Machine, options: DaemonOptions): Promise<void> {
  const { path, clock, log } = options;
  const size = (await stat(paths.log).catch(ifMissing))?.size ?? 0;
  const output = await open(paths.log, size > MAX_LOG_BYTES ? 'w' : 'a');
  // A socket without a process behind it would keep the new one from listening.
  await rm(paths.socket, { force: true });
  const nothing = await open('/dev/null');
  const [program = '', ...args] = await inNamespaces([machine.containerd, '--config', paths.config], options);
  try {
    const child = spawn(program, args, {
      detached: true,
      // Its containers must not inherit the file of the store.
      stdio: withoutInherited(['ignore' as const, output.fd, output.fd], nothing.fd),
      cwd: paths.directory,
      env: { PATH: systemPath(path) },
    });
    const ended = endOf(child);
    child.unref();
    if (child.pid !== undefined) {
      await writeFile(paths.identity, JSON.stringify(await processIdentity(child.pid)), { mode: 0o600 });
    }
    await Promise.race([answered(paths, clock), ended.then((reason) => failed(paths, reason))]);
    log.info('containerd was started', { pid: child.pid, version: machine.containerdVersion, socket: paths.socket });
  } finally {
    await output.close();
    await nothing.close();
  }
}

/** The command, in the namespaces of the node. */
async function inNamespaces(
  command: readonly string[],
  { networkNamespace, hostName, path }: DaemonOptions,
): Promise<readonly string[]> {
  const find = async (program: string) => (await findProgram(program, path)) ?? program;
  const named = hostName === undefined ? command : underHostName(await find('unshare'), hostName, command);
  return networkNamespace === undefined ? named : [await find('nsenter'), `--net=${networkNamespace}`, ...named];
}

function endOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`));
  });
}

async function failed(paths: OwnPaths, reason: string): Promise<never> {
  const log = await readFile(paths.log, 'utf8').catch(() => '');
  const excerpt = log.slice(-LOG_EXCERPT_BYTES).trim();
  throw new RuntimeError('Unavailable', `containerd ended at its start (${reason}): ${excerpt}`);
}

async function answered(paths: OwnPaths, clock: Clock): Promise<void> {
  const deadline = clock.now() + START_TIMEOUT_MS;
  while (!(await answers(paths, clock))) {
    if (clock.now() > deadline) throw new RuntimeError('Unavailable', 'containerd does not answer after its start');
    await sleep(clock, POLL_MS);
  }
}

async function answers(paths: OwnPaths, clock: Clock): Promise<boolean> {
  const connection = new Connection({ socket: paths.socket, clock });
  try {
    await connection.call(cri.version, {});
    return true;
  } catch {
    return false;
  } finally {
    connection.close();
  }
}

/** Returns the registries that have a `hosts.toml`: containerd asks all others as it does by default. */
export function configuredRegistries({ mirrors, insecure }: RegistrySettings): readonly string[] {
  return [...new Set([...Object.keys(mirrors), ...insecure])];
}

/** The content of `hosts.toml` for a registry: its mirrors are tried in order, then the registry itself. */
export function hostsFile(registry: string, settings: RegistrySettings): string {
  const hosts = hostsOf(registry, settings);
  const server = hosts.at(-1)?.url ?? `https://${registry}`;
  // containerd asks the server last, and verifies its certificate: an insecure one must be a host, too.
  const listed = hosts.filter(({ url, isInsecure }) => url !== server || isInsecure);
  return toml([
    [[], { server }],
    ...listed.map(({ url, isInsecure }): Tables[number] => {
      const capabilities = ['pull', 'resolve'];
      const skips = isInsecure && url.startsWith('https:');
      return [['host', url], skips ? { capabilities, skip_verify: true } : { capabilities }];
    }),
  ]);
}
