/** `qdfed get clusters`: the members of a federation, and how they are. */
import { elapsed } from '../../kinds/columns/elapsed.ts';
import { table } from '../output/table.ts';
import type { FederationFlags } from './flags.ts';
import { releaseOf, withContexts } from './members/contexts.ts';
import { openFederation } from './members/federation.ts';
import { type MemberAccess, readiness, withMembers } from './members/members.ts';

const NONE = '-';

export async function getClusters(flags: FederationFlags): Promise<void> {
  await withContexts(flags.kubeconfig, async (contexts) => {
    const federation = await openFederation(contexts, flags);
    const rows = await withMembers(federation, (members) => Promise.all(members.map(rowOf)));
    const header = ['NAME', 'STATUS', 'VERSION', 'REGION', 'ZONES', 'AGE', 'REASON'];
    process.stdout.write(`${table([header, ...rows]).join('\n')}\n`);
  });
}

export async function rowOf({ cluster, access, problem }: MemberAccess): Promise<readonly string[]> {
  const { metadata, status } = cluster;
  const { isReady, message } = readiness(cluster);
  let unreachable = '';
  const release =
    access &&
    (await releaseOf(access).catch(({ message: why }: Error) => {
      unreachable = why;
      return undefined;
    }));
  return [
    ...[metadata.name ?? '', isReady ? 'Ready' : 'NotReady', release?.gitVersion ?? NONE],
    ...[status.region ?? NONE, status.zones?.join(',') ?? NONE, elapsed(metadata.creationTimestamp, Date.now())],
    problem ?? (isReady ? unreachable : message),
  ];
}
