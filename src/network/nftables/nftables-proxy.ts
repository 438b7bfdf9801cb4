/** Applies rules as one nftables table: the difference to the last state, or all of it at the start and after an error. */
import { addAll } from '../../base/collections/add-all.ts';
import { inTurns } from '../../base/event-loop/in-turns.ts';
import { TurnBudget } from '../../base/event-loop/turn-budget.ts';
import type { Tools } from '../../base/tools.ts';
import type { Command, Kernel, NetworkSettings, StaleConnections } from '../kernel/kernel.ts';
import type { PolicyApplier, PolicySet } from '../policy/policy-set.ts';
import { familyOf } from '../rules/addresses.ts';
import type { Destination, PortRules, RuleApplier, RuleChange } from '../rules/rule-set.ts';
import { createTable, ofIp, SETS } from './layout.ts';
import type { Part } from './part.ts';
import { policyParts } from './policy-parts.ts';
import { element, portParts } from './service-parts.ts';
import { TableParts, type Transition, transition } from './table-parts.ts';

export interface NftablesProxyOptions extends Pick<Tools, 'clock' | 'log'> {
  readonly kernel: Kernel;
  /** The name of the table. */
  readonly table: string;
  /** The ranges of the pods of this node. */
  readonly podRanges: readonly string[];
}

/** Kernels before 6.2 need a moment until they know that a chain is not used. */
const STALE_CHAIN_MS = 1_000;
/** The owner of the parts that belong to no service: no service has this name. */
const OWN = '';

/** Owner of the parts of policies, which no service has as its name. */
const POLICIES = ' policies';

export class NftablesProxy implements RuleApplier, PolicyApplier {
  readonly #parts = new TableParts();
  readonly #turns: TurnBudget;
  readonly #ports = new Map<string, readonly PortRules[]>();
  #settings: NetworkSettings | undefined;
  /** True when the table matches `#parts`. */
  #isCurrent = false;
  /** Chains that can be deleted, and when. */
  readonly #stale = new Map<string, number>();
  #hasRules = false;
  #isReported = false;
  #last: Promise<void> = Promise.resolve();

  constructor(private readonly options: NftablesProxyOptions) {
    this.#turns = new TurnBudget(options.clock);
  }

  /** Calls wait for each other. */
  apply(change: RuleChange): Promise<void> {
    return this.#inTurn(() => this.#applyRules(change));
  }

  /** Policies that are known before the first rules are applied with them, so that an older table is replaced as a whole. */
  isolate(policies: PolicySet): Promise<void> {
    const turns = this.#turns;
    return this.#inTurn(async () => {
      const owners = new Map([[POLICIES, await inTurns(turns, policyParts(policies, turns))]]);
      if (this.#hasRules) await this.#write(owners);
      else await inTurns(turns, this.#parts.replace(owners, turns));
    });
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => undefined);
    return done;
  }

  async #applyRules({ services, serviceRanges }: RuleChange): Promise<void> {
    const { kernel, podRanges } = this.options;
    const owners = new Map<string, readonly Part[]>([[OWN, rangeParts(podRanges, serviceRanges)]]);
    const udp: StaleConnections[] = [];
    for (const [key, { ports }] of services) {
      const parts: Part[] = [];
      for (const port of ports) {
        if (this.#turns.isSpent()) await this.#turns.nextTurn();
        addAll(parts, portParts(port));
      }
      owners.set(key, parts);
      addAll(udp, staleConnections(this.#ports.get(key) ?? [], ports));
    }
    for (const [key, { ports }] of services) {
      if (ports.length > 0) this.#ports.set(key, ports);
      else this.#ports.delete(key);
    }
    this.#hasRules = true;
    await this.#write(owners);
    await kernel.routeLoopback(podRanges);
    await this.#forget(udp);
  }

  close(): Promise<void> {
    return this.#inTurn(async () => {
      this.#isCurrent = false;
      await this.options.kernel.remove(this.options.table);
    });
  }

  async #write(owners: ReadonlyMap<string, readonly Part[]>): Promise<void> {
    const { kernel, table } = this.options;
    this.#settings ??= await kernel.prepare();
    const differences = await inTurns(this.#turns, this.#parts.replace(owners, this.#turns));
    if (this.#isCurrent) {
      this.#isCurrent = false;
      await this.#applyDifference(await inTurns(this.#turns, transition(differences, this.#turns)));
    } else {
      this.#stale.clear();
      const all = await inTurns(this.#turns, this.#parts.all(this.#turns));
      const { commands } = await inTurns(this.#turns, transition(all, this.#turns));
      await kernel.apply(table, [...createTable(this.#settings), ...commands]);
      // The rules have loaded the modules that the settings are of.
      await kernel.setConntrack();
    }
    this.#isCurrent = true;
  }

  async #applyDifference({ commands, stale }: Transition): Promise<void> {
    const { kernel, table, clock } = this.options;
    for (const command of commands) if (command.do === 'add-chain') this.#stale.delete(command.chain);
    const due = [...this.#stale].filter(([, at]) => at <= clock.now()).map(([chain]) => chain);
    for (const chain of due) this.#stale.delete(chain);
    const deleted = due.map((chain): Command => ({ do: 'delete-chain', chain }));
    await kernel.apply(table, [...commands, ...deleted]);
    for (const chain of stale) this.#stale.set(chain, clock.now() + STALE_CHAIN_MS);
  }

  /**
   * Forgets connections. Otherwise, clients that keep their UDP socket would wait for endpoints that are gone; rules
   * stay in effect if it fails.
   */
  async #forget(connections: Parameters<Kernel['forget']>[0]): Promise<void> {
    try {
      await this.options.kernel.forget(connections);
    } catch (error) {
      if (!this.#isReported) this.options.log.warn('UDP connections to old endpoints are not forgotten', { error });
      this.#isReported = true;
    }
  }
}

function rangeParts(podRanges: readonly string[], serviceRanges: readonly string[]): readonly Part[] {
  const parts = (set: string, ranges: readonly string[]) =>
    ranges.map((range) => element(ofIp(set, familyOf(range)), range));
  return [...parts(SETS.podRanges, podRanges), ...parts(SETS.serviceRanges, serviceRanges)];
}

/**
 * Finds UDP connections that must be forgotten after a change of one service: a client that keeps its socket would stay with an
 * endpoint that is gone.
 */
function staleConnections(before: readonly PortRules[], after: readonly PortRules[]): readonly StaleConnections[] {
  const known = new Map(before.map((each) => [each.id, each]));
  return after.flatMap((rules) => {
    const { protocol, serving, id } = rules;
    if (protocol !== 'udp' || serving.length === 0) return [];
    const keep = serving.map(textOf);
    const kept = new Set(keep);
    const old = known.get(id);
    // The first endpoint counts, too: packets that came before it may have been sent elsewhere.
    const isAffected = !old || old.serving.length === 0 || old.serving.some((each) => !kept.has(textOf(each)));
    return isAffected ? places(rules).map((place) => ({ protocol: 'udp' as const, ...place, keep })) : [];
  });
}

function places({ clusterIP, port, external }: PortRules): readonly Pick<StaleConnections, 'address' | 'port'>[] {
  const addresses = [clusterIP, ...(external ? [...external.addresses, ...external.loadBalancerAddresses] : [])];
  const nodePort = external?.nodePort ? [{ address: undefined, port: external.nodePort }] : [];
  return [...addresses.map((address) => ({ address, port })), ...nodePort];
}

function textOf({ address, port }: Destination): string {
  return `${address} ${port}`;
}
