/** Keeps the routes of a machine to the pods of other machines up to date with the API. */

import type { DeepReadonly } from '../../api/object-types.ts';
import type { Informer } from '../../client/informer/informer.ts';
import { Namespace } from '../../kinds/groups/core/namespace.ts';
import { Node } from '../../kinds/groups/core/node/node.ts';
import type { Command, Hook, Kernel } from '../kernel/kernel.ts';
import type { Router, Routing } from '../kernel/routing/router.ts';
import { range as checkedRange } from '../kernel/values.ts';
import { GATEWAY_ANNOTATION, type RouteMode, type RoutingPlan, routingOf, tunnelNumber } from '../routes/routing-of.ts';
import { ApiFollower, type ApiFollowerOptions } from './api-follower.ts';

export interface RouteWatchOptions extends ApiFollowerOptions {
  /** The name of the node that has the network of this machine. */
  readonly node: string;
  /** Identifies the node on this machine. */
  readonly owner: string;
  /** The ranges of its pods. */
  readonly podRanges: readonly string[];
  /** The name of the nftables table. */
  readonly table: string;
  readonly mode: RouteMode;
  readonly kernel: Pick<Kernel, 'apply' | 'remove'>;
  readonly router: Router;
}

/** The namespace whose UID identifies the cluster. */
const SYSTEM_NAMESPACE = 'kube-system';

export class RouteWatch {
  readonly #follower: ApiFollower;
  readonly #nodes: Informer<Node>;
  readonly #namespaces: Informer<Namespace>;
  /** Routes that were applied last. */
  #applied: string | undefined;
  #rejected = '';

  constructor(private readonly options: RouteWatchOptions) {
    this.#follower = new ApiFollower(options, { subject: 'routes to other machines', apply: () => this.#apply() });
    const { informers } = this.#follower;
    this.#nodes = informers.of(Node);
    this.#namespaces = informers.of(Namespace, { fieldSelector: `metadata.name=${SYSTEM_NAMESPACE}` });
    this.#nodes.onChange((change) => {
      if (change.type !== 'update' || factsOf(change.object) !== factsOf(change.old)) this.#follower.changed();
    });
    void this.#follower.open([this.#nodes, this.#namespaces]);
  }

  /** Stops following the API. Routes stay. */
  stop(): Promise<void> {
    return this.#follower.stop();
  }

  async #apply(): Promise<void> {
    const { node, mode, owner, podRanges, table, kernel, router } = this.options;
    const vni = tunnelNumber(this.#namespaces.lister.get(SYSTEM_NAMESPACE)?.metadata.uid ?? '');
    const links = await router.links();
    const plan = routingOf({ nodes: this.#nodes.lister.list(), node, links, mode, vni });
    this.#report(plan);
    const next = JSON.stringify([plan.routes, plan.tunnel]);
    if (next === this.#applied) return;
    const rules = routeTable(plan, podRanges);
    // Rules come first: no packet leaves with another source.
    await (rules.length > 0 ? kernel.apply(table, rules) : kernel.remove(table));
    await router.route(owner, plan);
    this.#applied = next;
  }

  #report({ rejected }: RoutingPlan): void {
    const text = JSON.stringify(rejected);
    if (text === this.#rejected) return;
    this.#rejected = text;
    for (const each of rejected) this.options.log.warn('the pods of a node are not reached from this machine', each);
  }
}

/** Returns the fields of a node that routes depend on. */
function factsOf({ metadata, spec, status }: DeepReadonly<Node>): string {
  return JSON.stringify([metadata.annotations?.[GATEWAY_ANNOTATION], spec.podCIDRs, status?.addresses]);
}

const REMOTE_PODS = 'remote-pods';
/** Hook before the rules of the runtimes, which give packets that leave the machine its address. */
const BEFORE_SNAT: Hook = { type: 'nat', hook: 'postrouting', priority: 99 };
const MANGLE: Hook = { type: 'filter', hook: 'forward', priority: -150 };

/**
 * Pods are seen with their own addresses: a source that is translated to itself is not translated by later rules. TCP
 * connections get segments that fit into the route. Empty without routes.
 */
function routeTable({ routes, tunnel }: Routing, ownRanges: readonly string[]): readonly Command[] {
  const behind = tunnel?.peers.flatMap(({ ranges }) => ranges) ?? [];
  const elements = [...routes.map(({ range }) => range), ...behind].sort();
  if (elements.length === 0) return [];
  const toRemote = `ip daddr @${REMOTE_PODS}`;
  const [untranslated, segments] = ['keep-sources', 'fit-segments'];
  return [
    { do: 'replace-table' },
    { do: 'add-set', set: { name: REMOTE_PODS, kind: 'set', type: 'type ipv4_addr', flags: ['interval'] } },
    { do: 'add-elements', set: REMOTE_PODS, elements },
    { do: 'add-chain', chain: untranslated, hook: BEFORE_SNAT },
    ...ownRanges.map((range): Command => {
      return {
        do: 'add-rule',
        chain: untranslated,
        rule: `ip saddr ${checkedRange(range)} ${toRemote} snat ip to ip saddr`,
      };
    }),
    { do: 'add-chain', chain: segments, hook: MANGLE },
    { do: 'add-rule', chain: segments, rule: `${toRemote} tcp flags syn tcp option maxseg size set rt mtu` },
  ];
}
