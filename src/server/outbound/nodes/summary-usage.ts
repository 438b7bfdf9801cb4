import type { NodeUsage } from './connection.ts';

/** The relevant part of a summary (`/stats/summary`). */
interface Summary {
  readonly node?: Stats;
  readonly pods?: readonly {
    readonly podRef?: { readonly name?: string; readonly namespace?: string };
    readonly containers?: readonly (Stats & { readonly name?: string })[];
  }[];
}

interface Stats {
  readonly cpu?: { readonly time?: string; readonly usageNanoCores?: number };
  readonly memory?: { readonly workingSetBytes?: number };
}

/** Measurement interval of agents: a summary does not contain the period of its rates. */
const WINDOW_MS = 10_000;

/**
 * Parses a summary; undefined until the agent has measured twice. A pod is left out until all its containers were
 * measured.
 */
export function usageOf(document: unknown): NodeUsage | undefined {
  const { node, pods = [] } = document as Summary;
  const measured = amountsOf(node);
  const time = Date.parse(node?.cpu?.time ?? '');
  if (!measured || Number.isNaN(time)) return undefined;
  return {
    time,
    window: WINDOW_MS,
    node: measured,
    pods: pods.flatMap(({ podRef, containers = [] }) => {
      const { name, namespace } = podRef ?? {};
      const known = containers.flatMap((each) => {
        const amounts = amountsOf(each);
        return amounts && each.name ? [{ name: each.name, ...amounts }] : [];
      });
      return name && namespace && known.length === containers.length ? [{ namespace, name, containers: known }] : [];
    }),
  };
}

function amountsOf(stats: Stats | undefined): { readonly cpu: number; readonly memory: number } | undefined {
  const [cpu, memory] = [stats?.cpu?.usageNanoCores, stats?.memory?.workingSetBytes];
  return cpu === undefined || memory === undefined ? undefined : { cpu, memory };
}
