/** Node configuration from the flags of nodes. */
import { stat } from 'node:fs/promises';
import { DEFAULT_NODE_CONFIG, type NodeConfig, type Resources } from '../../assembly/node/node-config.ts';
import { addQuantities, formatQuantity, parseQuantity } from '../../base/quantity.ts';
import { CliError } from '../output/cli-error.ts';
import type { NodeFlags } from './node-flags.ts';

/** `isPrivate`: nobody but the user of the cluster can have its nodes run pods. */
export function nodeConfig(flags: NodeFlags, isPrivate: boolean): NodeConfig {
  const { podMaxPids } = flags;
  const defaults = DEFAULT_NODE_CONFIG;
  return {
    labels: flags.nodeLabels ?? defaults.labels,
    taints: flags.registerWithTaints ?? defaults.taints,
    maxPods: flags.maxPods ?? defaults.maxPods,
    podPidsLimit: podMaxPids === undefined ? defaults.podPidsLimit : podMaxPids < 0 ? undefined : podMaxPids,
    allowsHostImage: flags.allowHostImage ?? isPrivate,
    reserved: sum(flags.systemReserved ?? {}, flags.kubeReserved ?? {}),
    thresholds: flags.evictionHard ?? defaults.thresholds,
    allowedUnsafeSysctls: flags.allowedUnsafeSysctls ?? defaults.allowedUnsafeSysctls,
    podManifestPath: flags.podManifestPath || undefined,
    registries: { mirrors: flags.registryMirror ?? {}, insecure: flags.insecureRegistry ?? [] },
    allowedDialRanges: flags.allowedDialRanges ?? defaults.allowedDialRanges,
    liveConfigVolumes: flags.liveConfigVolumes === true,
    podRoutes: flags.podRoutes ?? defaults.podRoutes,
  };
}

/** Rejects with a CliError for what only the machine knows. */
export async function checkNodeFlags({ podManifestPath: path }: Pick<NodeFlags, 'podManifestPath'>): Promise<void> {
  if (!path || (await stat(path).catch(() => undefined))?.isDirectory()) return;
  throw new CliError(
    `--pod-manifest-path ${path} cannot be used: it is not a directory; --pod-manifest-path "" starts without it`,
  );
}

function sum(a: Resources, b: Resources): Resources {
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return Object.fromEntries(
    [...names].map((name) => {
      const [one, other] = [a[name], b[name]].map((amount) => parseQuantity(amount ?? '0'));
      return [name, formatQuantity(addQuantities(one!, other!))];
    }),
  );
}
