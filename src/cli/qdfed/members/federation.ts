/** The host cluster and the federation that a member joins or leaves. */
import { FEDERATION_NAME, serverName } from '../../../federation/tool/control-plane.ts';
import { Deployment } from '../../../kinds/groups/apps/deployment.ts';
import { Namespace } from '../../../kinds/groups/core/namespace.ts';
import { CliError } from '../../output/cli-error.ts';
import type { FederationFlags } from '../flags.ts';
import { find } from '../steps/ensure.ts';
import type { ClusterAccess, Contexts } from './contexts.ts';

export interface Federation {
  readonly host: ClusterAccess;
  readonly federation: ClusterAccess;
  readonly federationName: string;
  /** Namespace of the control plane, on the host cluster. */
  readonly namespace: string;
}

/** The namespace of the control plane says which federation it is; its context has the same name unless one is given. */
export async function openFederation(contexts: Contexts, flags: FederationFlags): Promise<Federation> {
  const { federationSystemNamespace: namespace } = flags;
  const hostContext = flags.hostClusterContext ?? contexts.config.currentContext;
  if (!hostContext) {
    throw new CliError(
      'the client configuration has no current context; name the host cluster with --host-cluster-context',
    );
  }
  const host = await contexts.open(hostContext, '--host-cluster-context');
  const federationName = (await find(host.client, Namespace, namespace))?.metadata.annotations?.[FEDERATION_NAME];
  if (federationName === undefined) {
    throw new CliError(
      `the cluster of context "${host.context}" hosts no federation in the namespace ${namespace}; ` +
        (flags.hostClusterContext === undefined
          ? 'name the host cluster with --host-cluster-context'
          : 'run qdfed init'),
    );
  }
  await checkHost(host, { federationName, namespace, isNamed: flags.hostClusterContext !== undefined });
  return {
    host,
    federationName,
    namespace,
    federation: await contexts.open(flags.context ?? federationName, '--context'),
  };
}

interface Hosted {
  readonly federationName: string;
  readonly namespace: string;
  /** True when a flag names the host. */
  readonly isNamed: boolean;
}

/** Members have the namespace, too, for the account of the federation; only the host runs the control plane. */
export async function checkHost(host: ClusterAccess, { federationName, namespace, isNamed }: Hosted): Promise<void> {
  if (await find(host.client, Deployment, serverName({ name: federationName }), namespace)) return;
  const hint = isNamed ? 'name another cluster' : 'name the host cluster';
  throw new CliError(
    `the cluster of context "${host.context}" does not host the federation "${federationName}": it has no control plane ` +
      `in the namespace ${namespace}; ${hint} with --host-cluster-context`,
  );
}
