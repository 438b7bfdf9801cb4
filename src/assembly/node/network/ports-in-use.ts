/** Finds out which ports of a node are taken, by programs that listen and by rules of others, and who has them. */
import { ANY_ADDRESS } from '../../../kinds/placement/host-ports.ts';
import { runningDaemons } from '../../../network/daemon/running.ts';
import { readListeners } from '../../../network/kernel/local-kernel.ts';
import {
  type ListeningSocket,
  type NetworkPort,
  type SocketHolder,
  socketHolders,
  socketsOfProcesses,
} from '../../../network/kernel/ports/listening-sockets.ts';
import { readPublishedPorts } from '../../../network/kernel/ports/read-published-ports.ts';
import { ofIp, SETS } from '../../../network/nftables/layout.ts';
import type { PortInUse } from '../../../node/admission/ports.ts';
import { bridgeOf } from '../../../node/containerd/network/cni.ts';
import { findProgram } from '../../../node/containerd/own/machine.ts';
import { daemonDirectory } from '../../threads/daemon-command.ts';

interface NodeOfMachine {
  readonly dataDirectory: string;
  /** Identifies the node on this machine. */
  readonly shortName: string;
  /** Path of the network namespace of the node; undefined: that of this process. */
  readonly networkNamespace: string | undefined;
  /** Where programs are searched. */
  readonly path: string;
}

interface PortOwners extends NodeOfMachine {
  /** Who listens on TCP ports of the machine, as part of a sentence. */
  readonly known: ReadonlyMap<number, string>;
}

/** The maps of services with ports of the node, and with ports of addresses, of which those of the node count. */
const MAPS = [SETS.nodePorts, SETS.unservedNodePorts, SETS.services, SETS.unserved].map((name) => ofIp(name, 4));

/**
 * Whatever has some of these ports, under any address. Pods of this node with an address of their own listen in namespaces of their own,
 * and have no part in it.
 */
export async function portsInUse(
  wanted: ReadonlySet<number>,
  { known, ...node }: PortOwners,
): Promise<readonly PortInUse[]> {
  const enter = await enterCommand(node);
  const isWanted = ({ port }: NetworkPort) => wanted.has(port);
  const [listeners, published, daemons] = await Promise.all([
    readListeners(enter),
    publishedByOthers(node, enter),
    daemonsOf(node),
  ]);
  const sockets = listeners.filter(isWanted);
  const holders = await socketHolders(new Set(sockets.map(({ inode }) => inode)));
  return [
    ...sockets.map((socket) => inUse(socket, listenerOf(socket, { holders, known, daemons }))),
    ...published
      .filter(isWanted)
      .map((port) => inUse(port, `a pod or a service of another cluster or node (${port.owner})`)),
  ];
}

/**
 * The sockets of a node, and the ports that rules of others take. Where the network daemon listens for Services as well, it has these
 * ports for something else.
 */
export async function networkPortsInUse(
  node: NodeOfMachine,
  portsOfDaemon?: ReadonlySet<number>,
): Promise<readonly NetworkPort[]> {
  const enter = await enterCommand(node);
  const ofDaemons = async () => socketsOfProcesses(portsOfDaemon ? await daemonsOf(node) : []);
  const [listeners, published, served] = await Promise.all([
    readListeners(enter),
    publishedByOthers(node, enter),
    ofDaemons(),
  ]);
  const others = listeners.filter(({ inode, port }) => portsOfDaemon?.has(port) || !served.has(inode));
  return [...others, ...published];
}

/** The sockets of the cluster's own processes in the network of a node. */
export async function ownListeners(node: NodeOfMachine): Promise<readonly NetworkPort[]> {
  const sockets = async () => socketsOfProcesses([process.pid, ...(await daemonsOf(node))]);
  const [listeners, own] = await Promise.all([enterCommand(node).then(readListeners), sockets()]);
  return listeners.filter(({ inode }) => own.has(inode));
}

/** The processes that serve DNS, Ingress and, without rights, Services. */
const daemonsOf = ({ dataDirectory }: NodeOfMachine) => runningDaemons(daemonDirectory(dataDirectory));

async function enterCommand({ networkNamespace, path }: NodeOfMachine): Promise<readonly string[]> {
  const nsenter = await findProgram('nsenter', path);
  return networkNamespace === undefined || nsenter === undefined ? [] : [nsenter, `--net=${networkNamespace}`];
}

async function publishedByOthers({ shortName, path }: NodeOfMachine, enter: readonly string[]) {
  const [nft, iptablesSave] = await Promise.all(['nft', 'iptables-save'].map((name) => findProgram(name, path)));
  const id = shortName.replace(/^qd/, '');
  const own = [`quarterdeck_${shortName}_pods`, bridgeOf(shortName)];
  const isOwn = (owner: string) => own.includes(owner) || owner.endsWith(`-${id}`);
  return readPublishedPorts({ nft, iptablesSave, enter, maps: MAPS, isOwn });
}

function inUse({ protocol, address, port }: NetworkPort, holder: string): PortInUse {
  return { protocol: protocol.toUpperCase(), address: address === '::' ? ANY_ADDRESS : address, port, holder };
}

interface KnownListeners {
  readonly holders: ReadonlyMap<number, SocketHolder>;
  readonly known: PortOwners['known'];
  readonly daemons: readonly number[];
}

function listenerOf({ protocol, port, inode }: ListeningSocket, { holders, known, daemons }: KnownListeners): string {
  const holder = holders.get(inode);
  const name = protocol === 'tcp' ? known.get(port) : undefined;
  if (name !== undefined) return name;
  if (!holder) return 'another program';
  if (daemons.includes(holder.pid)) return 'DNS, Ingress or a Service of this cluster';
  return holder.pid === process.pid
    ? 'the program of this node'
    : `the program ${holder.program} (process ${holder.pid})`;
}
