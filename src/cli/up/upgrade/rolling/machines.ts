/** Finds the machines of a cluster, and asks each what it runs. */
import { type MachineReport, UPGRADE_PATH } from '../../../../api/machine-upgrade.ts';
import { createClient } from '../../../../client/client.ts';
import type { Connection } from '../../../../client/kubeconfig/kubeconfig.ts';
import { httpsTransport } from '../../../../client/transport/http/https-transport.ts';
import { Lease } from '../../../../kinds/groups/coordination/lease.ts';
import { Node } from '../../../../kinds/groups/core/node/node.ts';
import { hostPort, LEASE_NAMESPACE, LEASE_SELECTOR, readLease } from '../../../../server/upkeep/peers/lease.ts';
import { explain } from '../../../output/cli-error.ts';
import { type Ask, asking, askingAny, Rejected } from './ask.ts';
import type { FoundMachine } from './plan.ts';

export interface Machine extends FoundMachine {
  /** Sends a request to the program of the machine: paths are those of MachineReport. */
  readonly ask: Ask;
}

export interface Machines {
  readonly all: readonly Machine[];
  /** The machine of the server that leads; undefined when nobody does, or there is one server alone. */
  readonly leader: string | undefined;
  /** Asks any of the servers. */
  readonly ask: Ask;
  /** Asks each of the servers, whether it is to be upgraded or not. */
  readonly servers: readonly { readonly name: string; readonly ask: Ask }[];
}

/** The lease that the controllers of the leader hold; its holder begins with the name of a machine. */
const LEADER_LEASE = 'kube-controller-manager';
const LABEL_HOSTNAME = 'kubernetes.io/hostname';
const SIMULATED = 'simulated://';
const MAX_ASKED_AT_ONCE = 8;

/** Rejects when no server answers. */
export async function findMachines(connection: Connection): Promise<Machines> {
  const transport = httpsTransport({ ...connection, userAgent: 'qd-upgrade' });
  try {
    const client = createClient(transport);
    const leases = client.of(Lease).in(LEASE_NAMESPACE);
    const [{ items: ofServers }, { items: nodes }, leading] = await Promise.all([
      leases.list({ labelSelector: LEASE_SELECTOR }),
      client.of(Node).list(),
      leases.get(LEADER_LEASE).catch(() => undefined),
    ]);
    const servers = ofServers.flatMap((lease) => {
      const found = readLease(lease as Lease);
      if (!found) return [];
      const name = hostPort(found.server.address);
      const ask = asking({ ...connection, server: `https://${name}` });
      return [{ name, ask, hostname: lease.metadata.labels?.[LABEL_HOSTNAME] }];
    });
    // A server that has its store to itself has no lease.
    if (servers.length === 0) {
      servers.push({ name: new URL(connection.server).host, ask: asking(connection), hostname: undefined });
    }
    const ask = askingAny(servers.map((each) => each.ask));
    const agents = nodes
      .filter(({ status }) => !status?.nodeInfo?.containerRuntimeVersion?.startsWith(SIMULATED))
      .map(({ metadata: { name = '' } }) => ({ name, ask: throughNode(ask, name) }));
    return {
      all: [
        ...(await inTurns(servers, (each) => seen('server', each))),
        ...(await inTurns(agents, (each) => seen('agent', each))),
      ].flat(),
      leader: leading?.spec?.holderIdentity?.replace(/_[^_]*$/, ''),
      ask,
      servers,
    };
  } finally {
    transport.close();
  }
}

/** Sends requests to the endpoint of an agent, through a server. */
function throughNode(ask: Ask, node: string): Ask {
  return ({ path, ...question }) =>
    ask({ ...question, path: `/api/v1/nodes/${encodeURIComponent(node)}/proxy${path}` });
}

type Asked = Pick<Machine, 'name' | 'ask'> & { readonly hostname?: string | undefined };

/** Resolves with none for a node in the process of a server. */
async function seen(kind: Machine['kind'], { name, ask, hostname }: Asked): Promise<readonly Machine[]> {
  const machine = { kind, name, ask, hostname };
  try {
    const { version, accepts } = (await ask({ method: 'GET', path: UPGRADE_PATH })) as MachineReport;
    if (accepts === 'with-server') return [];
    return [{ ...machine, version, obstacle: accepts === 'off' ? OFF : undefined }];
  } catch (error) {
    const isUnknown = error instanceof Rejected && error.code === 404;
    return [{ ...machine, version: undefined, obstacle: isUnknown ? TOO_OLD : explain(error) }];
  }
}

const OFF = 'it takes no packages (--remote-upgrades=false); run qd upgrade there';
const TOO_OLD = 'its release takes no packages; run qd upgrade there';

async function inTurns<T, U>(all: readonly T[], work: (each: T) => Promise<U>): Promise<readonly U[]> {
  const results: U[] = [];
  for (let first = 0; first < all.length; first += MAX_ASKED_AT_ONCE) {
    results.push(...(await Promise.all(all.slice(first, first + MAX_ASKED_AT_ONCE).map(work))));
  }
  return results;
}
