/** How the flags of a start configure its controllers, its scheduler and its nodes. */
import { join } from 'node:path';
import { dividedRange } from '../../../assembly/cluster-nodes/node-plan.ts';
import type { RealNodesOptions } from '../../../assembly/cluster-nodes/real-nodes.ts';
import {
  type ComponentOptions,
  type ControllerKeys,
  controllerKeys,
  factsOf,
  SCHEDULER,
} from '../../../assembly/control-plane/components.ts';
import type { ControlPlane } from '../../../assembly/control-plane/start-control-plane.ts';
import type { Pki } from '../../../assembly/keys/pki.ts';
import type { Metrics } from '../../../server/serving/metrics/metrics.ts';
import { storeDriver } from '../../../store/drivers.ts';
import { hiddenPaths } from '../../agent/hidden-paths.ts';
import { nodeConfig } from '../../agent/node-config.ts';
import { describePods } from '../../agent/pod-executor.ts';
import { apiVersion } from '../../version.ts';
import { apiAddress } from '../api/options.ts';
import type { StartContext } from '../context.ts';
import { isChosen } from './choice.ts';
import { isPrivateCluster } from './private-cluster.ts';

export function componentOptions(
  context: StartContext,
  { pki, metrics }: { readonly pki: Pki; readonly metrics: Metrics },
): Omit<ComponentOptions, 'clock' | 'random' | 'log' | 'monitor'> {
  const { settings, inputs, directory } = context;
  return {
    keys: keysFor(context, pki),
    facts: {
      ...factsOf(apiAddress(context)),
      podRange: dividedRange(inputs.nodes),
      volumesDirectory: settings.volumesDir ?? join(directory, 'volumes'),
    },
    runs: (name) => isChosen(name, settings),
    isShared: storeDriver(settings.store).shared,
    metrics,
  };
}

/** What the controllers sign with. */
export function keysFor({ settings, clock, random }: StartContext, pki: Pki): ControllerKeys {
  return controllerKeys(pki, { clock, random, maxLifetime: settings.clusterSigningDuration });
}

export function describeComponents({ server, components }: ControlPlane): string {
  if (!components) return 'none';
  const { chosen, total } = components.controllers(server);
  const count = chosen.length === total ? `${total}` : `${chosen.length} of ${total}`;
  return `${count}, ${components.schedules ? 'and the' : 'no'} ${SCHEDULER}`;
}

type FromFlags = 'api' | 'config' | 'endpoint' | 'directory' | 'hidden' | 'isShared' | 'version';

export function nodesOptions(context: StartContext): Pick<RealNodesOptions, FromFlags> {
  const { settings, directory } = context;
  return {
    api: apiAddress(context),
    config: nodeConfig(settings, isPrivateCluster(settings)),
    endpoint: settings.containerRuntimeEndpoint,
    directory,
    hidden: () => hiddenPaths(directory, process.env.KUBECONFIG),
    isShared: storeDriver(settings.store).shared,
    version: apiVersion.gitVersion,
  };
}

export function describeNodes({ inputs: { nodes }, path }: StartContext): string {
  const { runtime, why, names } = nodes;
  if (names.length === 0) return 'none';
  const which = names.length === 1 ? names[0] : names.length;
  const because = why === undefined ? '' : ` (${why})`;
  switch (runtime) {
    case 'simulated':
      return `${which}, simulated: pods are not really run`;
    case 'containerd':
      return `${which}, containers of containerd${because}`;
    case 'process':
      return `${which}, ${describePods(path)}${because}`;
  }
}
