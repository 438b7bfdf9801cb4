/** Keeps the owner graph up to date: follows every served kind, including those added later. */
import { setMaxListeners } from 'node:events';
import { TurnBudget } from '../../../base/event-loop/turn-budget.ts';
import { reflect, type Sink, type Source } from '../../../client/informer/reflector.ts';
import type { DeepReadonly } from '../../../client/object-types.ts';
import type { Kind, KubeObject } from '../../../kinds/kind.ts';
import type { Feed, FeedTools } from '../../loop/define.ts';
import { nodeOf, type OwnerGraph } from './owner-graph.ts';

export interface FollowOptions {
  /** The kinds that are currently served. */
  readonly kinds: () => Iterable<Kind>;
  /** Calls the listener whenever kinds are added or removed; returns a function to stop that. */
  readonly onKindsChange: (listener: () => void) => () => void;
  /** Called when kinds were added or removed, after the followers know. */
  readonly changed: () => void;
}

interface Follower {
  readonly stop: AbortController;
  readonly synced: Promise<void>;
  readonly ended: Promise<void>;
}

export function followKinds(graph: OwnerGraph, options: FollowOptions, tools: FeedTools): Feed {
  const followers = new Map<Kind, Follower>();
  const budget = new TurnBudget(tools.clock);
  const ending = new Set<Promise<void>>();
  const refresh = () => {
    if (tools.signal.aborted) return;
    const served = new Set([...options.kinds()].filter(isCollected));
    for (const [kind, { stop, ended }] of followers) {
      if (served.has(kind)) continue;
      followers.delete(kind);
      stop.abort();
      ending.add(ended.then(() => graph.forget(kind)));
    }
    for (const kind of served) if (!followers.has(kind)) followers.set(kind, follow(kind, { graph, budget }, tools));
  };
  graph.wake = tools.wake;
  const begin = async () => {
    refresh();
    await Promise.all([...followers.values()].map(({ synced }) => synced));
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
function isCollected({ kind, verbs }: Kind): boolean {
  if (kind === 'Event') return false;
  return !verbs || (['list', 'watch', 'delete'] as const).every((verb) => verbs.includes(verb));
}

function follow(
  kind: Kind,
  { graph, budget }: { readonly graph: OwnerGraph; readonly budget: TurnBudget },
  { client, clock, random, log }: FeedTools,
): Follower {
  const stop = new AbortController();
  setMaxListeners(0, stop.signal);
  const resource = client.of<KubeObject>(kind);
  const source: Source<KubeObject> = {
    listAll: (options) => resource.listAll({ ...options, metadataOnly: true }),
    watch: (options) => resource.watch({ ...options, metadataOnly: true }),
  };
  let markSynced = () => {};
  const synced = new Promise<void>((resolve) => {
    markSynced = resolve;
  });
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
        if (event.type === 'DELETED') graph.remove(event.object.metadata.uid ?? '');
        else if (event.type !== 'BOOKMARK') graph.put(nodeOf(kind, event.object));
      }
    },
  };
  const fields = { kind: kind.kind, group: kind.group };
  const ended = reflect(source, sink, { clock, random, log: log.with(fields), signal: stop.signal });
  return { stop, synced, ended };
}

/** Objects missing from the list were deleted unnoticed. */
function removeMissing(kind: Kind, graph: OwnerGraph, items: readonly DeepReadonly<KubeObject>[]): void {
  const present = new Set(items.map(({ metadata }) => metadata.uid));
  const missing = [...graph.ofKind(kind)].filter(({ uid }) => !present.has(uid));
  for (const { uid } of missing) graph.remove(uid);
}
