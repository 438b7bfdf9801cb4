/** Chooses what executes pods on this machine: an OCI runtime that was seen to work, or plain processes. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { makeDirectoriesSync } from '../../../base/files/own/make-directories.ts';
import type { SandboxConfig } from '../../runtime/sandbox-config.ts';
import type { Executor } from './executor.ts';
import { Layers } from './oci/layers.ts';
import { OciExecutor } from './oci/oci-executor.ts';
import { openOwnDevices } from './oci/own-devices.ts';
import { PlainExecutor, type PlainExecutorOptions } from './plain/plain-executor.ts';
import type { SpareFifos } from './streams/spare-fifos.ts';

export interface ChooseOptions extends PlainExecutorOptions {
  readonly fifos: SpareFifos;
}

export interface ChosenExecutor {
  readonly executor: Executor;
  readonly executorName: 'oci' | 'plain';
  /** The OCI runtime, for example `runc`. */
  readonly runtime: string | undefined;
  readonly hasUserNamespaces: boolean;
  /** Reason why containers, or their user namespaces, are not available. */
  readonly why: string | undefined;
}

/** A range that no pod gets. */
const PROBE_IDS = { hostId: 0x7ffe_0000, containerId: 0, length: 65_536 };

export async function chooseExecutor(options: ChooseOptions): Promise<ChosenExecutor> {
  const { machine, name } = options;
  const plain = (why: string): ChosenExecutor => ({
    executor: new PlainExecutor(options),
    executorName: 'plain',
    runtime: undefined,
    hasUserNamespaces: false,
    why,
  });
  if (!machine.isRoot) return plain('the node agent does not run as root');
  const { unshare, mount, script } = machine.programs;
  if (machine.ociRuntimes.length === 0) return plain('no OCI runtime is installed (runc or crun)');
  if (!unshare || !mount || !script) return plain('unshare, mount or script of util-linux is not installed');
  let failure = '';
  const layers = await Layers.open(join(runDirectoryOf(name), 'layers'), machine.programs);
  const devices = await openOwnDevices(runDirectoryOf(name));
  for (const program of machine.ociRuntimes) {
    const oci = { program, runDirectory: runDirectoryOf(name), machine: machine.oci, programs: machine.programs };
    const hasCgroups = options.cgroups !== undefined;
    const executor = new OciExecutor({ ...oci, layers, devices, fifos: options.fifos, hasCgroups });
    const chosen = { executor, executorName: 'oci', runtime: program } as const;
    const rejected = await tryExecutor(executor, options, true);
    if (rejected === undefined) return { ...chosen, hasUserNamespaces: true, why: undefined };
    const failed = await tryExecutor(executor, options, false);
    if (failed === undefined) return { ...chosen, hasUserNamespaces: false, why: `user namespaces: ${rejected}` };
    failure = `${program} does not work here: ${failed}`;
  }
  return plain(failure);
}

/** On this boot only, and for every user to pass through: a container's root is looked up as a user of its namespace. */
function runDirectoryOf(name: string): string {
  return join('/run', `quarterdeck-${name}`);
}

/** Holds the namespaces of a pod for a moment. Returns why that fails. */
async function tryExecutor(
  executor: Executor,
  { directory, name }: ChooseOptions,
  hasUserNamespace: boolean,
): Promise<string | undefined> {
  const folder = join(directory, 'probe');
  const config = {
    hostname: 'probe',
    namespaces: { network: 'pod', pid: 'container', ipc: 'pod', user: hasUserNamespace ? [PROBE_IDS] : undefined },
    sysctls: {},
  } as unknown as SandboxConfig;
  const sandbox = {
    id: `probe-${name}-${process.pid}`,
    directory: folder,
    config,
    cgroup: `/quarterdeck-${name}/probe`,
  };
  try {
    makeDirectoriesSync(folder, 0o700);
    await executor.hold(sandbox);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  } finally {
    await executor.release(sandbox);
    rmSync(folder, { recursive: true, force: true });
  }
}
