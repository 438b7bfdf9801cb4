/** Makes and removes the networks of the further nodes of a machine. Root only. Everything can be repeated. */
import { type RunProgramOptions, runProgram } from '../../../base/programs/run-program.ts';
import { findProgram, systemPath } from '../../../node/containerd/own/machine.ts';
import { AssemblyError } from '../../assembly-error.ts';
import {
  insideCommands,
  linkCommand,
  type MachineNetwork,
  machineNames,
  type NodeNetwork,
  namespaceName,
  networkRules,
  reachCommands,
} from './network-plan.ts';

const PROGRAMS = ['ip', 'nft', 'nsenter'];
const FORWARD = 'echo 1 > /proc/sys/net/ipv4/ip_forward';

/** Rejects with a AssemblyError when a program is missing. */
export async function checkNetworkPrograms(path: string): Promise<void> {
  for (const program of PROGRAMS) {
    if ((await findProgram(program, path)) !== undefined) continue;
    throw new AssemblyError(`--nodes: more than one node needs the program ${program}, which is not installed`);
  }
}

/** Makes the bridge to which the nodes are connected. `machineAddress` is that of the first node. */
export async function openMachineNetwork(
  network: MachineNetwork,
  { machineAddress, path }: { readonly machineAddress: string; readonly path: string },
): Promise<void> {
  const { bridge, gateway, prefixLength } = network;
  await run(['ip', 'link', 'add', bridge, 'type', 'bridge'], { path }).catch(ignoreExisting);
  const input = `addr replace ${gateway}/${prefixLength} dev ${bridge}\nlink set ${bridge} up\n`;
  await run(['ip', '-batch', '-'], { path, input });
  await run(['nft', '-f', '-'], { path, input: networkRules(network, { machineAddress }) });
  const conf = `/proc/sys/net/ipv4/conf/${bridge}`;
  // The node ports of the loopback address reach pods of the further nodes, too. A bridge that was left leaves its range to others.
  const settings = ['route_localnet', 'ignore_routes_with_linkdown'].map((name) => `echo 1 > ${conf}/${name}`);
  await run(['sh', '-c', [FORWARD, ...settings].join('; ')], { path });
}

/** Makes the namespace of a node, and the way to its pods. */
export async function openNodeNetwork(
  machine: MachineNetwork,
  node: NodeNetwork,
  { podCIDR, path }: { readonly podCIDR: string; readonly path: string },
): Promise<void> {
  const inside = ['nsenter', `--net=${node.namespace}`];
  await run(['ip', 'netns', 'add', namespaceName(node.namespace)], { path }).catch(ignoreExisting);
  await run(['ip', '-batch', '-'], { path, input: linkCommand(node) }).catch(ignoreExisting);
  await run([...inside, 'ip', '-batch', '-'], { path, input: insideCommands(machine, node) });
  await run([...inside, 'nft', '-f', '-'], { path, input: networkRules(machine, 'node') });
  await run([...inside, 'sh', '-c', FORWARD], { path });
  await run(['ip', '-batch', '-'], { path, input: reachCommands(machine, node, podCIDR) });
}

/** Removes the namespace of a node with everything in it. What is not there is not missed. */
export async function removeNodeNetwork(namespace: string, path: string): Promise<void> {
  await run(['ip', 'netns', 'delete', namespaceName(namespace)], { path }).catch(() => undefined);
}

/** Removes what the machine has for the further nodes of a cluster. */
export async function removeMachineNetwork(dataDirectory: string, path: string): Promise<void> {
  const { bridge, table } = machineNames(dataDirectory);
  await run(['ip', 'link', 'delete', bridge], { path }).catch(() => undefined);
  const input = `table ip ${table} {}\ndelete table ip ${table}\n`;
  await run(['nft', '-f', '-'], { path, input }).catch(() => undefined);
}

function ignoreExisting(error: unknown): void {
  if (!/File exists/.test(String(error))) throw error;
}

async function run(command: readonly string[], { path, input }: RunProgramOptions & { path: string }): Promise<void> {
  await runProgram(command, { input, path: systemPath(path) });
}
