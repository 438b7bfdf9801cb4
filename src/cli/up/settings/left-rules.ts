/** Rules of Services that are on this machine although the program that made them has ended: its pods go on. */
import { basename } from 'node:path';
import { nodesIn } from '../../../assembly/node/node-file.ts';
import type { RulesOwner } from '../../../assembly/node/options.ts';
import { CliError } from '../../output/cli-error.ts';

const servicesModule = () => import('../../../assembly/node/network/services.ts');

/** Reports whether the nodes of a data directory have rules. */
export async function hasLeftRules(directory: string, path: string): Promise<boolean> {
  const { hasServiceRules } = await servicesModule();
  for (const owner of await ownersIn(directory)) if (await hasServiceRules(owner, path)) return true;
  return false;
}

/**
 * Rejects when a node port of another cluster has the port of the API: nobody would reach that. Rules of an earlier start of this
 * cluster go; with the first rules of this one, the Service is told that it cannot have the port.
 */
export async function freeFromRules(port: number, directory: string, path: string): Promise<void> {
  const { nodePortsInUse, removeServiceRules, serviceTable } = await servicesModule();
  const led = (await nodePortsInUse(path)).filter((each) => each.protocol === 'tcp' && each.port === port);
  if (led.length === 0) return;
  const owners = await ownersIn(directory);
  for (const { table } of led) {
    const owner = owners.find(({ name, shortName }) => serviceTable(name, shortName) === table);
    if (!owner) {
      throw new CliError(
        `port ${port} is a node port of another cluster on this machine, whose rules are in the nftables table ${table}; choose one with --port, or end that cluster with qd down`,
      );
    }
    await removeServiceRules(owner, path);
  }
}

async function ownersIn(directory: string): Promise<readonly RulesOwner[]> {
  return (await nodesIn(directory)).map(({ directory: node, file: { name, networkNamespace } }) => ({
    name: basename(node),
    shortName: name,
    networkNamespace,
  }));
}
