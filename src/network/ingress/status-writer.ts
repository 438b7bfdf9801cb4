/** Writes where Ingresses are reached into their status, beside what other servers of the cluster write there. */

import { isDeepStrictEqual } from 'node:util';
import { isApiError, isLostRace } from '../../api/errors.ts';
import { eachTurn } from '../../base/event-loop/turn-budget.ts';
import { ReconcileLoop } from '../../base/reconcile/reconcile-loop.ts';
import type { ClientTools } from '../../client/client.ts';
import type { Informer } from '../../client/informer/informer.ts';
import { keyOf } from '../../client/informer/object-cache.ts';
import { Ingress } from '../../kinds/groups/networking/ingress.ts';
import { type MovedPort, moveReason } from './moved-port.ts';
import type { SeenIngress } from './plan/rules.ts';

export interface StatusWriterOptions extends ClientTools {
  readonly address: string;
  readonly movedPorts: readonly MovedPort[];
  readonly informer: Informer<Ingress>;
  /** Returns the addresses of the servers of the cluster; none when there is only this one. */
  readonly servers: () => readonly string[];
}

const WORKERS = 4;

export class StatusWriter {
  readonly #loop: ReconcileLoop;
  readonly #own: StatusEntry & { readonly ip: string };
  /** Ingresses without entries of an earlier start of this server. */
  readonly #cleared = new Set<string>();

  constructor(private readonly options: StatusWriterOptions) {
    this.#own = entryOf(options);
    this.#loop = new ReconcileLoop({
      ...options,
      turns: eachTurn,
      workers: WORKERS,
      failure: 'the status of an Ingress was not written',
      // It changed or was deleted meanwhile.
      isExpected: (error) => isLostRace(error) || isApiError(error, 'NotFound'),
      reconcile: (key) => this.#reconcile(key),
    });
  }

  add(ingress: SeenIngress): void {
    this.#loop.add(keyOf(ingress));
  }

  run(signal: AbortSignal): Promise<void> {
    return this.#loop.run(signal);
  }

  async #reconcile(key: string): Promise<void> {
    const { client, informer, servers } = this.options;
    const [namespace = '', name = ''] = key.split('/');
    const found = informer.lister.get(name, namespace);
    if (!found) return;
    const { uid = '', resourceVersion } = found.metadata;
    const others = servers();
    const ingress = statusEntries(found.status?.loadBalancer?.ingress ?? [], this.#own, {
      isAlive: (ip) => others.includes(ip),
      sharesAddress: others.length > 0 && this.#cleared.has(uid),
    });
    this.#cleared.add(uid);
    if (!ingress) return;
    const changes = { metadata: { resourceVersion }, status: { loadBalancer: { ingress } } };
    const written = await client.of(Ingress).in(namespace).patchStatus(name, { type: 'merge', changes });
    this.#loop.wrote(key, { cache: informer, version: Number(written.metadata.resourceVersion) });
  }
}

function entryOf({ address, movedPorts }: Pick<StatusWriterOptions, 'address' | 'movedPorts'>) {
  if (movedPorts.length === 0) return { ip: address };
  const ports = movedPorts.flatMap((moved) => [
    { port: moved.usual, protocol: 'TCP', error: moveReason(moved) },
    { port: moved.used, protocol: 'TCP' },
  ]);
  return { ip: address, ports };
}

export interface StatusEntry {
  readonly ip?: string;
  readonly ports?: readonly { readonly port: number; readonly protocol: string; readonly error?: string }[];
}

interface Peers {
  /** Reports whether another server of the cluster has this address. */
  isAlive(ip: string): boolean;
  /** True when servers with the same address as this one keep their entries: they listen on other ports. */
  readonly sharesAddress: boolean;
}

/** Returns the entries of this server and of living ones; undefined when these are there already. */
export function statusEntries(
  current: readonly StatusEntry[],
  own: StatusEntry & { readonly ip: string },
  { isAlive, sharesAddress }: Peers,
): readonly StatusEntry[] | undefined {
  const isOwn = (entry: StatusEntry) => isDeepStrictEqual(entry, own);
  const isKept = ({ ip }: StatusEntry) => ip !== undefined && (ip === own.ip ? sharesAddress : isAlive(ip));
  const kept = current.filter((entry) => isOwn(entry) || isKept(entry));
  if (kept.some(isOwn)) return kept.length === current.length ? undefined : kept;
  return [...kept, own];
}
