/** The host cluster and the federation that a member joins or leaves. */
import { FEDERATION_NAME } from '../../federation/tool/control-plane.ts';
import { Namespace } from '../../kinds/groups/core/namespace.ts';
import { CliError } from '../output/cli-error.ts';
import type { ClusterAccess, Contexts } from './contexts.ts';
import { find } from './ensure.ts';
import type { UnjoinFlags } from './flags.ts';

interface Federation {
  readonly host: ClusterAccess;
  readonly federation: ClusterAccess;
  readonly federationName: string;
}

/** The namespace of the control plane says which federation it is; its context has the same name unless one is given. */
export async function openFederation(contexts: Contexts, flags: UnjoinFlags): Promise<Federation> {
  const { hostClusterContext, federationSystemNamespace: namespace } = flags;
  if (hostClusterContext === undefined) throw new CliError('required: --host-cluster-context');
  const host = await contexts.open(hostClusterContext, '--host-cluster-context');
  const federationName = (await find(host.client, Namespace, namespace))?.metadata.annotations?.[FEDERATION_NAME];
  if (federationName === undefined) {
    throw new CliError(
      `the cluster of context "${host.context}" hosts no federation in the namespace ${namespace}; run qdfed init`,
    );
  }
  return { host, federationName, federation: await contexts.open(flags.context ?? federationName, '--context') };
}
