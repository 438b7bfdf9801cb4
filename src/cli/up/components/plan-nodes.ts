/** Which nodes a start runs, and how. Reads the rules, and creates nothing. */
import { readFile, stat } from 'node:fs/promises';
import type { NodePlan } from '../../../assembly/cluster-nodes/node-plan.ts';
import { checkNetworkPrograms } from '../../../assembly/node/network/network.ts';
import { machineNetwork } from '../../../assembly/node/network/network-plan.ts';
import { fileProblem } from '../../../base/files/file-problem.ts';
import type { Clock } from '../../../base/time/clock.ts';
import { subnetsOf } from '../../../node/simulated/agent/addresses.ts';
import type { Rules } from '../../../node/simulated/rules/rules.ts';
import { type StoreName, storeDriver } from '../../../store/drivers.ts';
import { type ChosenRuntime, chooseRuntime } from '../../agent/choose-runtime.ts';
import { CliError } from '../../output/cli-error.ts';
import type { ComponentFlags } from './flags.ts';
import type { Runtime } from './runtimes.ts';

type NodeSettings = { readonly name: string } & Pick<
  ComponentFlags,
  'runtime' | 'containerRuntimeEndpoint' | 'nodes' | 'nodeName' | 'simulation' | 'clusterCidr'
> & {
    readonly store: StoreName;
  };

export interface PlanOptions {
  /** Path of the data directory; it need not exist. */
  readonly directory: string;
  /** Where programs are searched. */
  readonly path: string;
  readonly clock: Clock;
}

/** Each has a runtime of its own. */
const MAX_REAL_NODES = 32;
/** Each node has 256 addresses. */
const NODES_IN_DEFAULT_CIDR = 256;

/** Rejects when the settings do not go together, the rules cannot be used, or pods cannot be run as before. */
export async function planNodes(settings: NodeSettings, options: PlanOptions): Promise<NodePlan> {
  const { clusterCidr: givenCidr, simulation } = settings;
  const count = nodeCount(settings);
  await checkEndpoint(settings);
  const { runtime, why } = await runtimeOf(settings, count, options);
  if (runtime !== 'simulated' && count > MAX_REAL_NODES) {
    throw new CliError(
      `--nodes: ${count} nodes need --runtime simulated; with --runtime ${runtime}, this machine has at most ${MAX_REAL_NODES}`,
    );
  }
  const clusterCidr = givenCidr ?? (count > NODES_IN_DEFAULT_CIDR ? '10.128.0.0/9' : '10.244.0.0/16');
  if (!subnetsOf(clusterCidr, count)) {
    throw new CliError(`--cluster-cidr: ${clusterCidr} has no room for the pods of ${count} nodes`);
  }
  if (runtime !== 'simulated' && count > 1 && process.getuid?.() === 0) {
    await checkNetworkPrograms(options.path);
    if (!machineNetwork(options.directory, clusterCidr, count)) {
      throw new CliError(
        `--cluster-cidr: ${clusterCidr} has no room for the addresses of ${count} nodes and their pods`,
      );
    }
  }
  return { runtime, why, names: namesOf(settings, { runtime, count }), clusterCidr, rules: await rulesOf(simulation) };
}

function namesOf(
  { name, nodeName }: NodeSettings,
  { runtime, count }: { readonly runtime: Runtime; readonly count: number },
): readonly string[] {
  const numbers = Array.from({ length: count }, (_, index) => index + 1);
  const isDefault = nodeName === undefined || nodeName === `${name}-node-1`;
  if (isDefault || runtime === 'simulated') return numbers.map((number) => `${name}-node-${number}`);
  return numbers.map((number) => (number === 1 ? nodeName : `${nodeName}-${number}`));
}

/**
 * A cluster has one node unless it is told otherwise. On a store that several servers share, each of them would run the
 * same one: there, nodes must be asked for.
 */
export function nodeCount({ runtime, nodes, store }: Pick<NodeSettings, 'runtime' | 'nodes' | 'store'>): number {
  return nodes ?? (runtime === 'auto' && storeDriver(store).shared ? 0 : 1);
}

/** Resolves `auto` as at the last start, if there was one; without nodes, nothing runs. */
async function runtimeOf(
  { runtime, containerRuntimeEndpoint: endpoint }: NodeSettings,
  count: number,
  { directory, path, clock }: PlanOptions,
): Promise<ChosenRuntime<Runtime>> {
  if (runtime !== 'auto') return { runtime };
  if (count === 0) return { runtime: 'process' };
  const chosen = await chooseRuntime({ endpoint, dataDirectory: directory, path, clock });
  if (endpoint && chosen.runtime !== 'containerd') throw unusable(endpoint, chosen.why ?? '');
  return chosen;
}

/** An empty endpoint means none: so one that the data directory remembers can be dropped. */
async function checkEndpoint({ runtime, containerRuntimeEndpoint: endpoint }: NodeSettings): Promise<void> {
  if (!endpoint) return;
  if (runtime !== 'containerd' && runtime !== 'auto') {
    throw unusable(endpoint, `pods are run by --runtime ${runtime}, and not by containerd`);
  }
  const found = await stat(endpoint.replace(/^unix:\/\//, '')).catch(() => undefined);
  if (!found) throw unusable(endpoint, 'it does not exist');
  if (!found.isSocket()) throw unusable(endpoint, 'it is not a socket');
}

function unusable(endpoint: string, why: string): CliError {
  const message = `--container-runtime-endpoint ${endpoint} cannot be used: ${why}`;
  return new CliError(`${message}; --container-runtime-endpoint "" starts without it`);
}

/** An empty name means no rules: so a file that the data directory remembers can be dropped. */
async function rulesOf(file: string | undefined): Promise<Rules> {
  const { NO_RULES, readRules } = await import('../../../node/simulated/rules/read-rules.ts');
  if (!file) return NO_RULES;
  try {
    const { parse } = await import('yaml');
    return readRules(parse(await readFile(file, 'utf8')));
  } catch (cause) {
    throw new CliError(
      `--simulation ${file} cannot be used: ${fileProblem(cause)}; --simulation "" starts without rules`,
      { cause },
    );
  }
}
