/** The session with the process that listens for the cluster: cluster DNS and Ingress go on when this program ends. */
import { createClient } from '../../client/client.ts';
import { CLUSTER_DNS } from '../../client/component-users.ts';
import { directTransport } from '../../client/transport/direct-transport.ts';
import { Pod } from '../../kinds/groups/core/pod/pod.ts';
import type { AttachedDaemon } from '../../network/daemon/attached-daemon.ts';
import type { Claim } from '../../network/daemon/doors.ts';
import type { PortMove } from '../../network/ingress/moved-port.ts';
import type { Server } from '../../server/index.ts';
import { machineAddresses, serviceAddress } from '../addresses.ts';
import { AssemblyError } from '../assembly-error.ts';
import type { Environment } from '../context.ts';
import { daemonCommand, daemonDirectory } from '../threads/daemon-command.ts';

/** Index of the DNS Service's address in the range: by convention, the tenth. */
const DNS_SERVICE_INDEX = 10;

export interface NetworkOptions extends Environment {
  readonly serviceClusterIpRange: string;
  readonly clusterDomain: string;
  /** The addresses of pods. */
  readonly clusterCidr: string;
  /** Addresses that Ingresses may lead to, whatever they are. */
  readonly allowedDialRanges: readonly string[];
  /** Path of the data directory. */
  readonly directory: string;
}

export interface OpeningNetwork {
  readonly daemon: Promise<AttachedDaemon>;
  /** The address that the Service of cluster DNS should have; undefined: any. */
  readonly dnsAddress: string | undefined;
  /** Decides, before the server ends, whether the daemon goes on. */
  outlives(isNeeded: () => Promise<boolean>): void;
  /** Adds work that has to finish before the daemon forgets what it did for an earlier program. */
  awaits(part: Promise<unknown>): void;
  /** Called when all parts have started. */
  started(): void;
}

/** Connects while the rest of the program starts. */
export function openNetwork(options: NetworkOptions): OpeningNetwork {
  const { cleanup } = options;
  const dnsAddress = serviceAddress(options.serviceClusterIpRange, DNS_SERVICE_INDEX);
  const daemon = attach(options, dnsAddress);
  // A failure is reported when it is waited for.
  daemon.catch(() => {});
  const parts: Promise<unknown>[] = [];
  let isNeeded = async () => true;
  cleanup.add(async () => {
    const opened = await daemon.catch(() => undefined);
    if (await isNeeded()) opened?.leave();
    else await opened?.quit();
  });
  return {
    daemon,
    dnsAddress,
    outlives(decide) {
      isNeeded = decide;
    },
    awaits: (part) => parts.push(part),
    started() {
      const complete = Promise.all([daemon, ...parts]).then(([opened]) => opened.commit());
      complete.catch((error) => options.log.debug('the network daemon was left before it was complete', { error }));
    },
  };
}

async function attach(options: NetworkOptions, dnsAddress: string | undefined): Promise<AttachedDaemon> {
  const { directory, clock, random, log } = options;
  const command = daemonCommand(daemonDirectory(directory));
  if (!command) throw new AssemblyError('nodes that run pods need the built program');
  const { AttachedDaemon } = await import('../../network/daemon/attached-daemon.ts');
  return AttachedDaemon.open({
    ...command,
    directory: daemonDirectory(directory),
    clock,
    random,
    log,
    settings: {
      dns: {
        domain: options.clusterDomain,
        ranges: [options.serviceClusterIpRange, options.clusterCidr],
        serviceAddress: dnsAddress,
        clients: machineAddresses(),
        upstream: undefined,
      },
      allowedDialRanges: options.allowedDialRanges,
    },
  });
}

export interface Near {
  readonly port: number;
  /** Why it is not the preferred one; undefined: it is. */
  readonly moved: PortMove | undefined;
}

/**
 * Listens on the preferred port, or on one that is free where that is taken or not allowed. A port that clients of an
 * earlier program use is kept, even when the preferred one is free by now.
 */
export async function listenNear(daemon: AttachedDaemon, claim: Claim): Promise<Near> {
  const held = await daemon.held(claim);
  const [kept] = held;
  if (kept !== undefined && !held.includes(claim.port)) {
    return { port: await daemon.listen({ ...claim, port: kept }), moved: 'kept' };
  }
  try {
    return { port: await daemon.listen(claim), moved: undefined };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EADDRINUSE' && code !== 'EACCES') throw error;
    return { port: await daemon.listen({ ...claim, port: 0 }), moved: code === 'EACCES' ? 'forbidden' : 'in use' };
  }
}

const RUNNING = { fieldSelector: 'spec.nodeName!=,status.phase!=Succeeded,status.phase!=Failed', limit: 1 };

/** Returns a check for pods that outlive the program. It asks the server once. */
export function hasRunningPods(server: Server): () => Promise<boolean> {
  const client = createClient(directTransport(server.direct(CLUSTER_DNS)));
  let found: Promise<boolean> | undefined;
  return () => {
    found ??= client
      .of(Pod)
      .list(RUNNING)
      .then(
        ({ items }) => items.length > 0,
        // Pods that run may need it.
        () => true,
      );
    return found;
  };
}
