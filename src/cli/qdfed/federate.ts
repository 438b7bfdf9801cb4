/** `qdfed federate TYPE`: federates a kind, and gives the federation the rights that it needs for it in the members. */

import type { DeepReadonly } from '../../api/object-types.ts';
import type { FederatedKind } from '../../federation/plan/kinds/federated-kind.ts';
import { namedKind } from '../../federation/plan/kinds/named-kind.ts';
import { objectOf } from '../../federation/tool/control-plane.ts';
import { accountObjects } from '../../federation/tool/member-objects.ts';
import { Cluster } from '../../kinds/groups/federation/cluster.ts';
import { FederatedType } from '../../kinds/groups/federation/federated-type.ts';
import { CliError } from '../output/cli-error.ts';
import type { Steps } from '../output/steps.ts';
import type { FederateFlags } from './flags.ts';
import { type ClusterAccess, withContexts } from './members/contexts.ts';
import { openFederation } from './members/federation.ts';
import { openMemberContext } from './members/member-context.ts';
import { ensure } from './steps/ensure.ts';
import { printObjects } from './steps/print.ts';
import { repeatableSteps } from './steps/repeatable-steps.ts';

export async function federate(name: string, flags: FederateFlags): Promise<void> {
  const { apiVersion: version, kind, scope, replicasPath, dryRun } = flags;
  const type = objectOf(FederatedType, {
    metadata: { name },
    spec: { version, kind, replicasPath, scope },
  });
  checkType(type.object as FederatedType);
  if (dryRun) return printObjects([type]);
  await withContexts(flags.kubeconfig, async (contexts) => {
    const opened = await openFederation(contexts, flags);
    const steps = repeatableSteps();
    await steps.run('type', async (say) => {
      const isNew = await ensure(opened.federation.client, type);
      say(`${name}${isNew ? '' : ' (exists)'} in the federation ${opened.federationName}`);
    });
    const { items } = await opened.federation.client.of(Cluster).list();
    await grantRights(items, {
      name,
      steps,
      federation: opened.federationName,
      namespace: opened.namespace,
      kinds: await federatedTypes(opened.federation),
      open: (member) => openMemberContext(contexts, member),
    });
  });
}

type Member = DeepReadonly<{ metadata: Pick<Cluster['metadata'], 'name' | 'annotations'>; spec: Cluster['spec'] }>;

interface GrantOptions {
  /** Name of the kind that was federated last. */
  readonly name: string;
  /** All that FederatedTypes name. */
  readonly kinds: readonly FederatedKind[];
  readonly federation: string;
  readonly namespace: string;
  readonly steps: Steps;
  /** Resolves with undefined when no context leads to the member. */
  readonly open: (member: Member) => Promise<ClusterAccess | undefined>;
}

/** Members that cannot be reached keep no others from their rights; the error at the end names them. */
export async function grantRights(members: readonly Member[], options: GrantOptions): Promise<void> {
  const { name, kinds, federation, namespace, steps, open } = options;
  const left: string[] = [];
  for (const each of members) {
    const cluster = each.metadata.name ?? '';
    const membership = { cluster, federation, namespace, secret: each.spec.secretRef?.name ?? cluster };
    const role = accountObjects(membership, kinds).find(({ kind }) => kind.kind === 'ClusterRole')!;
    await steps.run('rights', async (say) => {
      try {
        const member = await open(each);
        if (!member)
          return say(`${cluster} has no context: add ${name} to its ClusterRole ${role.object.metadata.name}`);
        await ensure(member.client, role);
        say(`${name} in ${cluster}`);
      } catch (error) {
        left.push(cluster);
        say(`not in ${cluster}: ${(error as Error).message}`);
      }
    });
  }
  if (left.length === 0) return;
  const where = left.join(', ');
  throw new CliError(
    `the federation has no rights for ${name} in ${where}; run the command again when ${left.length > 1 ? 'they' : 'it'} can be reached`,
  );
}

function checkType(type: FederatedType): void {
  try {
    namedKind(type);
  } catch (error) {
    throw new CliError((error as Error).message, { cause: error });
  }
}

/** The kinds that FederatedTypes name. */
export async function federatedTypes({ client }: Pick<ClusterAccess, 'client'>): Promise<readonly FederatedKind[]> {
  return (await client.of(FederatedType).list()).items.flatMap((type) => {
    try {
      return [namedKind(type)];
    } catch {
      // Its own status says why it is not served.
      return [];
    }
  });
}
