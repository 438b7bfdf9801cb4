/**
 * How well the zones are, and how fast pods may be driven off their nodes. When many nodes of a zone are gone at once, it is
 * rather the network than the nodes; when all of all zones are, it is rather this end of it.
 */
import type { DeepReadonly } from '../../../client/object-types.ts';
import type { Node } from '../../../kinds/groups/core/node/node.ts';
import { readyCondition } from './health.ts';

type SeenNode = DeepReadonly<Node>;
type ZoneState = 'normal' | 'partlyDisrupted' | 'fullyDisrupted';

const PARTLY = 0.55;
const LARGE = 50;
/** Milliseconds between two nodes of a zone. */
const USUAL = 10_000;
const SLOW = 100_000;

export function zoneOf({ metadata }: SeenNode): string {
  const { labels = {} } = metadata;
  return `${labels['topology.kubernetes.io/region'] ?? ''} ${labels['topology.kubernetes.io/zone'] ?? ''}`;
}

export interface Zones {
  readonly sizes: ReadonlyMap<string, number>;
  readonly states: ReadonlyMap<string, ZoneState>;
  /** No node of any zone is well. */
  readonly isAllLost: boolean;
}

export function surveyZones(nodes: readonly SeenNode[]): Zones {
  const counts = new Map<string, { ready: number; all: number }>();
  for (const node of nodes) {
    if (node.metadata.labels?.['node.kubernetes.io/exclude-disruption'] !== undefined) continue;
    const zone = zoneOf(node);
    const count = counts.get(zone) ?? { ready: 0, all: 0 };
    counts.set(zone, count);
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
  const lost = all - ready;
  if (ready === 0 && lost > 0) return 'fullyDisrupted';
  return lost > 2 && lost / all >= PARTLY ? 'partlyDisrupted' : 'normal';
}

/** One node of a zone after the other. */
export class ZonePace {
  readonly #last = new Map<string, number>();

  /** How long a node has to wait, in milliseconds, as things are; 0: it is its turn, which is then taken. */
  turn(zone: string, zones: Zones, now: number): number {
    const pause = pauseOf(zones.states.get(zone), zones.sizes.get(zone) ?? 0);
    if (pause === undefined) return Number.POSITIVE_INFINITY;
    const next = (this.#last.get(zone) ?? Number.NEGATIVE_INFINITY) + pause;
    if (now < next) return next - now;
    this.#last.set(zone, now);
    return 0;
  }
}

/** Undefined: nobody has a turn. */
function pauseOf(state: ZoneState | undefined, size: number): number | undefined {
  if (state !== 'partlyDisrupted') return USUAL;
  return size > LARGE ? SLOW : undefined;
}
