/** Reads from the rules of a machine which ports they send elsewhere. */
import { networkInterfaces } from 'node:os';
import { runProgram } from '../../../base/programs/run-program.ts';
import { ANY_ADDRESS } from '../../../kinds/placement/host-ports.ts';
import { type NftListing, type PublishedPort, portsOfIptables, portsOfMap, portsOfRules } from './published-ports.ts';

export interface ReadPublishedPortsOptions {
  /** Paths of the programs; undefined: not installed. */
  readonly nft: string | undefined;
  readonly iptablesSave: string | undefined;
  /** A command that runs another one in the network namespace; empty: that of this process. */
  readonly enter: readonly string[];
  /** The maps of the tables of services whose keys have ports. */
  readonly maps: readonly string[];
  /** Reports whether a table, or a network of CNI, belongs to the node itself. */
  readonly isOwn: (owner: string) => boolean;
}

const PODS_TABLE = /^quarterdeck_\w+_pods$/;
/** The chain with the ports of pods. */
const PODS_CHAIN = 'published';
const SERVICES_TABLE = /^qd-/;

/** Returns the ports that rules take; none without the rights to read rules. */
export async function readPublishedPorts(options: ReadPublishedPortsOptions): Promise<readonly PublishedPort[]> {
  const found = await Promise.all([ofNftables(options), ofIptables(options)]);
  const local = new Set([
    ANY_ADDRESS,
    ...Object.values(networkInterfaces())
      .flatMap((each) => each ?? [])
      .map((each) => each.address),
  ]);
  return found.flat().filter(({ owner, address }) => local.has(address) && !options.isOwn(owner));
}

async function ofNftables({ nft, enter, maps, isOwn }: ReadPublishedPortsOptions): Promise<readonly PublishedPort[]> {
  if (nft === undefined) return [];
  const list = async (...what: string[]): Promise<NftListing> => {
    // A table may disappear while the others are read.
    const text = await runProgram([...enter, nft, '-j', 'list', ...what]).catch(() => '');
    return text === '' ? { nftables: [] } : (JSON.parse(text) as NftListing);
  };
  const { nftables } = await list('tables');
  const tables = nftables.flatMap(({ table }) => (table && !isOwn(table.name) ? [table] : []));
  const found = await Promise.all(
    tables.map(async ({ family, name }) => {
      if (PODS_TABLE.test(name)) return portsOfRules(await list('chain', family, name, PODS_CHAIN));
      if (!SERVICES_TABLE.test(name)) return [];
      const listings = await Promise.all(maps.map((map) => list('map', family, name, map)));
      return listings.flatMap(portsOfMap);
    }),
  );
  return found.flat();
}

async function ofIptables({ iptablesSave, enter }: ReadPublishedPortsOptions): Promise<readonly PublishedPort[]> {
  if (iptablesSave === undefined) return [];
  return portsOfIptables(await runProgram([...enter, iptablesSave, '-t', 'nat']).catch(() => ''));
}
