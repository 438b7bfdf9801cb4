/** `qdfed unjoin`: removes a cluster from a federation. What the federation propagated to it stays. */
import { DNS_CONFIG, managesDns, withoutFederation } from '../../federation/tool/dns-config.ts';
import { accountObjects, type Membership } from '../../federation/tool/member-objects.ts';
import { ConfigMap } from '../../kinds/groups/core/configuration/config-map.ts';
import { Secret } from '../../kinds/groups/core/configuration/secret.ts';
import { Cluster } from '../../kinds/groups/federation/cluster.ts';
import { CliError } from '../output/cli-error.ts';
import { apiVersion } from '../process/version.ts';
import type { UnjoinFlags } from './flags.ts';
import { type ClusterAccess, releaseOf, withContexts } from './members/contexts.ts';
import { openFederation } from './members/federation.ts';
import { openMemberContext } from './members/member-context.ts';
import { find, remove } from './steps/ensure.ts';
import { repeatableSteps } from './steps/repeatable-steps.ts';

export async function unjoin(name: string, flags: UnjoinFlags): Promise<void> {
  await withContexts(flags.kubeconfig, async (contexts) => {
    const { host, federation, federationName } = await openFederation(contexts, flags);
    const cluster = await find(federation.client, Cluster, name);
    if (!cluster) throw new CliError(`the cluster ${name} is not a member of the federation ${federationName}`);
    const member =
      flags.clusterContext === undefined
        ? await openMemberContext(contexts, cluster)
        : await contexts.open(flags.clusterContext, '--cluster-context');
    const namespace = flags.federationSystemNamespace;
    const secret: string = cluster.spec?.secretRef?.name ?? name;
    const membership: Membership = { cluster: name, federation: federationName, namespace, secret };
    const steps = repeatableSteps();
    if (flags.dryRun) return steps.line(`cluster ${name} would leave the federation ${federationName}`);
    await steps.run('account', async (say) => say(await removeAccount(member, membership)));
    await steps.run('credentials', async (say) => {
      await remove(host.client, Secret, secret, namespace);
      say(`secret ${secret} in ${namespace} of ${host.context} is deleted`);
    });
    // Last: until the cluster has left, the command can be run again.
    await steps.run('cluster', async (say) => {
      await remove(federation.client, Cluster, name);
      say(`${name} has left the federation ${federationName}`);
    });
  });
}

/** A cluster that cannot be reached has left all the same; its account can do nothing without its token. */
async function removeAccount(member: ClusterAccess | undefined, membership: Membership): Promise<string> {
  if (!member) return 'left in the cluster: no context leads to the cluster; --cluster-context names one';
  try {
    const release = await releaseOf(member);
    // The namespace may be that of a control plane.
    for (const { kind, object } of [...accountObjects(membership)].reverse()) {
      const { name = '', namespace } = object.metadata;
      if (kind.kind !== 'Namespace') await remove(member.client, kind, name, namespace);
    }
    if (!managesDns(release, apiVersion)) {
      return `deleted; remove the federation ${membership.federation} from the DNS of the cluster yourself`;
    }
    await restoreDns(member, membership.federation);
    return `the service account in ${member.context} is deleted, and the DNS of the cluster is as before`;
  } catch (error) {
    return `left in ${member.context}: ${(error as Error).message}`;
  }
}

async function restoreDns({ client }: ClusterAccess, federation: string): Promise<void> {
  const { namespace, name, key } = DNS_CONFIG;
  const existing = await find(client, ConfigMap, name, namespace);
  const known: unknown = existing?.data?.[key];
  if (typeof known !== 'string') return;
  const value = withoutFederation(known, federation) ?? null;
  await client
    .of(ConfigMap)
    .in(namespace)
    .patch(name, { type: 'merge', changes: { data: { [key]: value } } });
}
