/** Keeps the owner graph up to date: follows every served kind, including those added later. */
import { setMaxListeners } from 'node:events';
import type { DeepReadonly } from '../../../api/object-types.ts';
import { TurnBudget } from '../../../base/event-loop/turn-budget.ts';
import { withResolvers } from '../../../base/event-loop/with-resolvers.ts';
import { reflect, type Sink, type Source } from '../../../client/informer/reflector.ts';
import type { KubeObject } from '../../../kinds/kind.ts';
import type { Feed, FeedTools } from '../../loop/define.ts';
import { type AggregatedKinds, hasVerbs, type KindsOptions, type ServedKind } from '../../shared/aggregated-kinds.ts';
import { isSameResource, nodeOf, type OwnerGraph } from './owner-graph.ts';

export interface FollowOptions extends KindsOptions {
  readonly aggregated: AggregatedKinds;
  /** Calls the listener whenever kinds or aggregated APIs are added, changed or removed; returns a function to stop that. */
  readonly onKindsChange: (listener: () => void) => () => void;
  /** Called when they were, after the followers know. */
  readonly changed: () => void;
}

interface Follower {
  readonly stop: AbortController;
  readonly synced: Promise<void>;
  readonly ended: Promise<void>;
}

export function followKinds(graph: OwnerGraph, options: FollowOptions, tools: FeedTools): Feed {
  const followers = new Map<ServedKind, Follower>();
  const budget = new TurnBudget(tools.clock);
  const ending = new Set<Promise<void>>();
  const refresh = () => {
    if (tools.signal.aborted) return;
    const served = new Set<ServedKind>([...options.kinds(), ...options.aggregated.all()].filter(isCollected));
    for (const [kind, { stop, ended }] of followers) {
      if (served.has(kind)) continue;
      followers.delete(kind);
      stop.abort();
      ending.add(ended.then(() => graph.forget(kind)));
    }
    // A server that is not available is asked when it is; until then, those that were followed stay known.
    const stale = new Set(options.aggregated.stale());
    for (const kind of served) {
      if (followers.has(kind) || (kind.isAggregated && stale.has(kind.hub.apiVersion))) continue;
      followers.set(kind, follow(kind, { graph, budget }, tools));
    }
  };
  graph.wake = tools.wake;
  const begin = async () => {
    refresh();
    // Another server may never answer. Owners that are not known yet are looked up.
    const own = [...followers].filter(([kind]) => !kind.isAggregated);
    await Promise.all(own.map(([, { synced }]) => synced));
  };
  const leave = options.onKindsChange(() => {
    refresh();
    options.changed();
  });
  const ended = new Promise<void>((resolve) => {
    const end = () => {
      leave();
      for (const { stop } of followers.values()) stop.abort();
      void Promise.all([...ending, ...[...followers.values()].map((each) => each.ended)]).then(() => resolve());
    };
    if (tools.signal.aborted) end();
    else tools.signal.addEventListener('abort', end, { once: true });
  });
  return { ready: begin(), ended };
}

/** Events are not collected: they expire, there are many, and nothing depends on them. */
function isCollected(kind: ServedKind): boolean {
  return kind.kind !== 'Event' && hasVerbs(kind, 'list', 'watch', 'delete');
}

/** Watches of other servers end after a while, so that a dead connection is noticed. */
const AGGREGATED_WATCH_SECONDS = 300;

function follow(
  kind: ServedKind,
  { graph, budget }: { readonly graph: OwnerGraph; readonly budget: TurnBudget },
  { client, clock, random, log }: FeedTools,
): Follower {
  const stop = new AbortController();
  setMaxListeners(0, stop.signal);
  const resource = client.of<KubeObject>(kind);
  const source: Source<KubeObject> = {
    listAll: (options) => resource.listAll({ metadataOnly: true, ...options }),
    watch: (options) => resource.watch({ metadataOnly: true, ...options }),
  };
  const { promise: synced, resolve: markSynced } = withResolvers<void>();
  let isFirst = true;
  const sink: Sink<KubeObject> = {
    listing: () => {},
    replace: async ({ items }) => {
      for (const object of items) {
        if (budget.isSpent()) await budget.nextTurn();
        graph.put(nodeOf(kind, object));
      }
      if (!isFirst) removeMissing(kind, graph, items);
      isFirst = false;
      markSynced();
    },
    apply: async (events) => {
      for (const event of events) {
        if (budget.isSpent()) await budget.nextTurn();
        if (event.type === 'DELETED') removeOwn(kind, graph, event.object.metadata.uid ?? '');
        else if (event.type !== 'BOOKMARK') graph.put(nodeOf(kind, event.object));
      }
    },
  };
  const fields = { kind: kind.kind, group: kind.group };
  const limits = kind.isAggregated ? { watchSeconds: AGGREGATED_WATCH_SECONDS } : {};
  const ended = reflect(source, sink, { clock, random, log: log.with(fields), signal: stop.signal, ...limits });
  return { stop, synced, ended };
}

/** A UID that another server made up may be that of an object of another kind. */
function removeOwn(kind: ServedKind, graph: OwnerGraph, uid: string): void {
  const known = graph.get(uid);
  if (known && isSameResource(known.kind, kind)) graph.remove(uid);
}

/** Objects missing from the list were deleted unnoticed. */
function removeMissing(kind: ServedKind, graph: OwnerGraph, items: readonly DeepReadonly<KubeObject>[]): void {
  const present = new Set(items.map(({ metadata }) => metadata.uid));
  const missing = [...graph.ofKind(kind)].filter(({ uid }) => !present.has(uid));
  for (const { uid } of missing) graph.remove(uid);
}
