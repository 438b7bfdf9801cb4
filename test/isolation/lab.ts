/** Attackers in pods, and what they achieve. */

import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'vitest';
import { MASKED_PATHS, READ_ONLY_PATHS } from '../../src/node/container/security/security.ts';
import type { ContainerConfig, ContainerSecurity, Mount } from '../../src/node/runtime/container-config.ts';
import type { SandboxConfig } from '../../src/node/runtime/sandbox-config.ts';
import { PLAIN_SECURITY, type TestContainer, type World } from '../runtimes/world.ts';

/** A promise that some executors do not make. */
export type Promised =
  /** A root, mounts, processes and devices of its own. */
  | 'containers'
  /** Root in a pod is nobody on the node. */
  | 'user namespaces'
  /** Device files in volumes are of no use, not even those of allowed devices. */
  | 'volumes without devices'
  /** A network namespace for each pod. */
  | 'pod network'
  /** The default filter also rejects calls that only a debugger needs. */
  | 'no debugging'
  /** The default filter rejects sockets to the hypervisor and to the kernel's cryptography. */
  | 'no special sockets'
  /** The user of pods is not that of the agent. */
  | 'another user'
  /** Limits hold for a pod without a filter of system calls. */
  | 'limits without a filter'
  /** The files in /dev are made by the node, and not by an OCI runtime in the root of the container. */
  | 'devices by the node'
  /** A keeper of containers with a socket. */
  | 'keeper';

/** The promises that an executor does not make, with the reason. */
export type Unpromised = Partial<Readonly<Record<Promised, string>>>;

export interface Lab {
  /** There is one once the suite has started. */
  world(): World;
  /** The image of the attackers: it has a shell, the usual commands, and perl for system calls. */
  attacker(): Pick<ContainerConfig, 'image' | 'imageId'>;
  readonly unpromised: Unpromised;
}

/** The outcome of an attack. */
export type Outcome = 'done' | 'failed';

/** Declares a test of something that an executor may not promise: it is skipped with the reason in its name. */
export function promised({ unpromised }: Lab, ...needed: readonly Promised[]) {
  const why = needed.map((each) => unpromised[each]).find((reason) => reason !== undefined);
  return (name: string, test: () => Promise<void>) =>
    why === undefined ? it(name, test) : it.skip(`${name} [skipped: ${why}]`, test);
}

/** As the agent makes them for a container that asks for nothing. */
export const DEFAULT_SECURITY: ContainerSecurity = {
  ...PLAIN_SECURITY,
  maskedPaths: MASKED_PATHS,
  readOnlyPaths: READ_ONLY_PATHS,
};

const PRIVILEGED_SECURITY: ContainerSecurity = {
  ...PLAIN_SECURITY,
  privileged: true,
  seccomp: { type: 'unconfined' },
  maskedPaths: [],
  readOnlyPaths: [],
};

/** Starts an attacker with a script. */
export function attack(lab: Lab, script: string, changes: Partial<ContainerConfig> = {}, sandbox?: SandboxConfig) {
  return start(lab, { command: ['sh', '-c', script], ...changes }, sandbox);
}

export async function start(
  lab: Lab,
  changes: Partial<ContainerConfig>,
  sandbox = lab.world().sandbox(),
): Promise<TestContainer> {
  const world = lab.world();
  const base = { ...lab.attacker(), security: DEFAULT_SECURITY, workingDirectory: '/' };
  const container = await world.create({ ...base, ...changes }, sandbox);
  await world.runtime.startContainer(container.id);
  return container;
}

/** Runs a container that may be rejected to its end: what it printed, or the reason. */
export async function tryToRun(
  lab: Lab,
  changes: Partial<ContainerConfig>,
  sandbox?: SandboxConfig,
): Promise<string | Error> {
  const container = await start(lab, changes, sandbox).catch((error: Error) => error);
  return container instanceof Error ? container : container.output();
}

/** Runs all attacks in one container, one after another; each is a shell command that succeeds if the attack does. */
export async function attempt<Name extends string>(
  lab: Lab,
  attacks: Readonly<Record<Name, string>>,
  changes: Partial<ContainerConfig> = {},
  sandbox?: SandboxConfig,
): Promise<Record<Name, Outcome>> {
  const names = Object.keys(attacks) as Name[];
  const script = names.map((name, i) => {
    const command = `( ${attacks[name]}\n) </dev/null >/dev/null 2>&1`;
    return `if ${command}; then echo ${i} done; else echo ${i} failed; fi`;
  });
  const output = await (await attack(lab, script.join('\n'), changes, sandbox)).output();
  const outcomes = new Map(output.split('\n').map((line) => line.split(' ') as [string, Outcome]));
  return Object.fromEntries(names.map((name, i) => [name, outcomes.get(String(i)) ?? 'not tried'])) as Record<
    Name,
    Outcome
  >;
}

/** What `attempt` returns when every attack fails. */
export function allFailed<Name extends string>(attacks: Readonly<Record<Name, unknown>>): Record<Name, Outcome> {
  return Object.fromEntries(Object.keys(attacks).map((name) => [name, 'failed'])) as Record<Name, Outcome>;
}

/** A pod with the ids of the users of the node. */
export function hostUsers(lab: Lab, changes: Partial<SandboxConfig['namespaces']> = {}): SandboxConfig {
  const sandbox = lab.world().sandbox();
  return { ...sandbox, namespaces: { ...sandbox.namespaces, user: undefined, ...changes } };
}

/** A container that may do everything: it shows that an attack is real. */
export function privileged(lab: Lab): { readonly changes: Partial<ContainerConfig>; readonly sandbox: SandboxConfig } {
  const sandbox = hostUsers(lab);
  return {
    changes: { security: PRIVILEGED_SECURITY },
    sandbox: { ...sandbox, security: { ...sandbox.security, privileged: true } },
  };
}

export function volume(hostPath: string, containerPath: string, changes: Partial<Mount> = {}): Mount {
  return {
    ...{ hostPath, containerPath, readOnly: false, recursiveReadOnly: false, propagation: 'private' },
    ...{ selinuxRelabel: false, idMappings: undefined, image: undefined },
    ...changes,
  };
}

/** An empty directory of the node that no pod is given. */
export function scratchOfNode(): string {
  return mkdtempSync(join(tmpdir(), 'qd-scratch-'));
}
