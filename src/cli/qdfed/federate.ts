/** `qdfed federate TYPE`: federates a kind, and gives the federation the rights that it needs for it in the members. */

import type { FederatedKind } from '../../federation/plan/federated-kind.ts';
import { namedKind } from '../../federation/plan/named-kind.ts';
import { objectOf } from '../../federation/tool/control-plane.ts';
import { accountObjects } from '../../federation/tool/member-objects.ts';
import { Cluster } from '../../kinds/groups/federation/cluster.ts';
import { FederatedType } from '../../kinds/groups/federation/federated-type.ts';
import { CliError } from '../output/cli-error.ts';
import { createSteps } from '../output/steps.ts';
import { type ClusterAccess, loadContexts } from './contexts.ts';
import { ensure } from './ensure.ts';
import { openFederation } from './federation.ts';
import type { FederateFlags } from './flags.ts';
import { openMemberContext } from './member-context.ts';
import { printObjects } from './print.ts';

export async function federate(name: string, flags: FederateFlags): Promise<void> {
  const { apiVersion: version, kind, scope, replicasPath, dryRun } = flags;
  const type = objectOf(FederatedType, {
    metadata: { name },
    spec: {
      ...(version === undefined ? {} : { version }),
      ...(kind === undefined ? {} : { kind }),
      ...(replicasPath === undefined ? {} : { replicasPath }),
      scope,
    },
  });
  checkType(type.object as FederatedType);
  if (dryRun) return printObjects([type]);
  const contexts = await loadContexts(flags.kubeconfig);
  try {
    const opened = await openFederation(contexts, flags);
    const steps = createSteps(process.stdout, () => performance.now());
    await steps.run('type', async (say) => {
      const isNew = await ensure(opened.federation.client, type);
      say(`${name}${isNew ? '' : ' (exists)'} in the federation ${opened.federationName}`);
    });
    const kinds = await federatedTypes(opened.federation);
    for (const each of (await opened.federation.client.of(Cluster).list()).items) {
      const { metadata, spec } = each;
      const cluster = metadata.name ?? '';
      const { federationName: federation, namespace } = opened;
      const membership = { cluster, federation, namespace, secret: spec.secretRef?.name ?? cluster };
      await steps.run('rights', async (say) => {
        const role = accountObjects(membership, kinds).find((each) => each.kind.kind === 'ClusterRole')!;
        const member = await openMemberContext(contexts, each);
        if (!member)
          return say(`${cluster} has no context: add ${name} to its ClusterRole ${role.object.metadata.name}`);
        await ensure(member.client, role);
        say(`${name} in ${cluster}`);
      });
    }
  } finally {
    contexts.close();
  }
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
