/** What the flags of nodes ask for. */
import { stat } from 'node:fs/promises';
import { addQuantities, formatQuantity, parseQuantity } from '../../base/quantity.ts';
import type { RouteMode } from '../../network/routes/route-mode.ts';
import type { RegistrySettings } from '../../node/images/registry/hosts.ts';
import { DEFAULT_THRESHOLDS, type Threshold } from '../../node/machine/pressure/thresholds.ts';
import { CliError } from '../output/cli-error.ts';
import type { NodeFlags } from './node-flags.ts';
import type { Resources, Taint } from './node-values.ts';

const MAX_PODS = 110;
/** More than ordinary programs have, and few enough that a fork bomb does not take the node. */
const POD_PIDS_LIMIT = 4_096;

export interface NodeConfig {
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
  readonly maxPods: number;
  /** Maximum number of processes and threads of a pod; undefined: no limit. */
  readonly podPidsLimit: number | undefined;
  /** Whether pods may use the file system of the node as their image. */
  readonly allowsHostImage: boolean;
  readonly reserved: Resources;
  readonly thresholds: readonly Threshold[];
  readonly allowedUnsafeSysctls: readonly string[];
  /** Directory of the manifests of static pods; undefined: there are none. */
  readonly podManifestPath: string | undefined;
  readonly registries: RegistrySettings;
  /** Addresses that probes, hooks and images may lead to, whatever they are. */
  readonly allowedDialRanges: readonly string[];
  readonly liveConfigVolumes: boolean;
  /** How the pods of other machines are reached. */
  readonly podRoutes: RouteMode;
}

/** `isPrivate`: nobody but the user of the cluster can have its nodes run pods. */
export function nodeConfig(flags: NodeFlags, isPrivate: boolean): NodeConfig {
  const pidsLimit = flags.podMaxPids ?? POD_PIDS_LIMIT;
  return {
    labels: flags.nodeLabels ?? {},
    taints: flags.registerWithTaints ?? [],
    maxPods: flags.maxPods ?? MAX_PODS,
    podPidsLimit: pidsLimit < 0 ? undefined : pidsLimit,
    allowsHostImage: flags.allowHostImage ?? isPrivate,
    reserved: sum(flags.systemReserved ?? {}, flags.kubeReserved ?? {}),
    thresholds: flags.evictionHard ?? DEFAULT_THRESHOLDS,
    allowedUnsafeSysctls: flags.allowedUnsafeSysctls ?? [],
    podManifestPath: flags.podManifestPath || undefined,
    registries: { mirrors: flags.registryMirror ?? {}, insecure: flags.insecureRegistry ?? [] },
    allowedDialRanges: flags.allowedDialRanges ?? [],
    liveConfigVolumes: flags.liveConfigVolumes === true,
    podRoutes: flags.podRoutes ?? 'auto',
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
