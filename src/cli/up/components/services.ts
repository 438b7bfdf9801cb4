/** Makes Services work on a node with real pods: by nftables where this process may, else with sockets of its own. */
import type { Clock } from '../../../base/clock.ts';
import type { Logger } from '../../../base/log.ts';
import type { Random } from '../../../base/random.ts';
import type { Client } from '../../../client/client.ts';
import { LocalKernel } from '../../../network/kernel/local-kernel.ts';
import { NftablesProxy } from '../../../network/nftables/nftables-proxy.ts';
import { PolicyWatch } from '../../../network/proxy/policy-watch.ts';
import { ServiceProxy } from '../../../network/proxy/service-proxy.ts';
import type { RuleApplier } from '../../../network/rules/applier.ts';
import { UserspaceProxy } from '../../../network/userspace/userspace-proxy.ts';
import { findProgram } from '../../../node/containerd/own/machine.ts';
import type { RulesOwner, ServicesNode } from '../../agent/run-node.ts';

export interface ServicesOptions {
  /** Reads Services and EndpointSlices. */
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly node: ServicesNode;
  /** Whether network policies are enforced. The client must then be able to read all pods, namespaces and policies. */
  readonly enforcesPolicies: boolean;
  /** Whether rules go when it is stopped. */
  readonly removesRules: boolean;
  readonly watchSeconds?: number;
}

/** Resolves with what stops it. Services are served a moment later. */
export async function startServices(options: ServicesOptions): Promise<() => Promise<void>> {
  const { client, clock, random, log, node, watchSeconds } = options;
  const kernel = await openKernel(process.env.PATH ?? '', node.networkNamespace);
  const table = serviceTable(node.name, node.shortName);
  const nftables = kernel && new NftablesProxy({ kernel, table, podRanges: node.podCIDRs, clock, log });
  const applier: RuleApplier = nftables ?? new UserspaceProxy({ clock, random, log });
  const common = { client, clock, random, log, node: node.name };
  const policies = nftables && options.enforcesPolicies ? new PolicyWatch({ ...common, applier: nftables }) : undefined;
  await policies?.ready;
  const proxy = new ServiceProxy({
    ...{ ...common, addresses: node.addresses, applier },
    ...(watchSeconds ? { watchSeconds } : {}),
  });
  return async () => {
    await policies?.stop();
    await proxy.stop();
    if (options.removesRules || !kernel) await applier.close();
  };
}

/** Removes what a node left, also one that was killed. */
export async function removeServiceRules(
  { name, shortName, networkNamespace }: RulesOwner,
  path: string,
): Promise<void> {
  const kernel = await openKernel(path, networkNamespace);
  await kernel?.remove(serviceTable(name, shortName));
}

const MAX_NODE_CHARACTERS = 80;

/** The node's name is for people; the rest distinguishes clusters of one machine. */
function serviceTable(node: string, shortName: string): string {
  return `qd-${node.slice(0, MAX_NODE_CHARACTERS)}-${shortName.replace(/^qd/, '')}`;
}

/** Undefined when this process may not change nftables, or there is no `nft`. */
async function openKernel(path: string, networkNamespace?: string): Promise<LocalKernel | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const [nft, perl, nsenter] = await Promise.all(['nft', 'perl', 'nsenter'].map((name) => findProgram(name, path)));
  if (nft === undefined || (networkNamespace !== undefined && nsenter === undefined)) return undefined;
  const enter = networkNamespace === undefined || nsenter === undefined ? [] : [nsenter, `--net=${networkNamespace}`];
  const kernel = new LocalKernel({ nft, perl, enter });
  return (await kernel.isUsable()) ? kernel : undefined;
}
