/**
 * The health of zones, and how fast pods may be evicted from their nodes. When many nodes of a zone fail at once, it is
 * probably the network; when all nodes of all zones fail, it is probably this end.
 */
import type { SeenNode } from '../../../api/seen-objects.ts';
import { getOrInsert } from '../../../base/collections/get-or-insert.ts';
import { readyCondition } from './health.ts';

type ZoneState = 'normal' | 'partlyDisrupted' | 'fullyDisrupted';

const PARTLY_DISRUPTED_SHARE = 0.55;
const LARGE_ZONE_NODES = 50;
/** Milliseconds between evictions from two nodes of a zone. */
const EVICTION_INTERVAL_MS = 10_000;
const SLOW_EVICTION_INTERVAL_MS = 100_000;

export function zoneOf({ metadata }: SeenNode): string {
  const { labels = {} } = metadata;
  return `${labels['topology.kubernetes.io/region'] ?? ''} ${labels['topology.kubernetes.io/zone'] ?? ''}`;
}

export interface Zones {
  readonly sizes: ReadonlyMap<string, number>;
  readonly states: ReadonlyMap<string, ZoneState>;
  /** True when no node of any zone is healthy. */
  readonly isAllLost: boolean;
}

export function surveyZones(nodes: readonly SeenNode[]): Zones {
  const counts = new Map<string, { ready: number; all: number }>();
  for (const node of nodes) {
    if (node.metadata.labels?.['node.kubernetes.io/exclude-disruption'] !== undefined) continue;
    const zone = zoneOf(node);
    const count = getOrInsert(counts, zone, () => ({ ready: 0, all: 0 }));
    count.all++;
    if (readyCondition(node)?.status === 'True') count.ready++;
  }
  const states = new Map([...counts].map(([zone, count]) => [zone, stateOf(count)]));
  return {
    sizes: new Map([...counts].map(([zone, { all }]) => [zone, all])),
    states,
    isAllLost: states.size > 0 && [...states.values()].every((state) => state === 'fullyDisrupted'),
  };
}

function stateOf({ ready, all }: { readonly ready: number; readonly all: number }): ZoneState {
  const markUnknown = all - ready;
  if (ready === 0 && markUnknown > 0) return 'fullyDisrupted';
  return markUnknown > 2 && markUnknown / all >= PARTLY_DISRUPTED_SHARE ? 'partlyDisrupted' : 'normal';
}

export class EvictionRateLimiter {
  readonly #last = new Map<string, number>();

  /** Returns how long a node has to wait, in milliseconds; 0: it is its turn, which is then taken. */
  waitTime(zone: string, zones: Zones, now: number): number {
    const pause = evictionInterval(zones.states.get(zone), zones.sizes.get(zone) ?? 0);
    if (pause === undefined) return Number.POSITIVE_INFINITY;
    const next = (this.#last.get(zone) ?? Number.NEGATIVE_INFINITY) + pause;
    if (now < next) return next - now;
    this.#last.set(zone, now);
    return 0;
  }
}

/** Returns the interval between evictions; undefined for none. */
function evictionInterval(state: ZoneState | undefined, size: number): number | undefined {
  if (state !== 'partlyDisrupted') return EVICTION_INTERVAL_MS;
  return size > LARGE_ZONE_NODES ? SLOW_EVICTION_INTERVAL_MS : undefined;
}
