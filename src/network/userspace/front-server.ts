/** Serves the clients of fronts, by what the fronts are at the time. */

import type { Logger } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import type { Listening, ListenOn } from '../../base/sockets/listening.ts';
import type { Clock } from '../../base/time/clock.ts';
import type { Protocol } from '../rules/rule-set.ts';
import { type Front, keyOfFront } from './fronts.ts';
import { Picker } from './picker.ts';
import { listenTcpFront } from './tcp-front.ts';
import { listenUdpFront } from './udp-front.ts';

export class FrontServer {
  readonly #clock: Clock;
  readonly #picker: Picker;
  #table = new FrontTable();

  constructor({ clock, random }: { readonly clock: Clock; readonly random: Random }) {
    this.#clock = clock;
    this.#picker = new Picker(clock, random);
  }

  /** Serves new connections by another table. */
  use(table: FrontTable): void {
    this.#table = table;
  }

  /** Listens for the front with this key. Without one, clients are rejected. Rejects when the address cannot be listened on. */
  listen(protocol: Protocol, key: string, on: ListenOn): Promise<Listening> {
    const options = { on, front: () => this.#table.get(key), picker: this.#picker, clock: this.#clock };
    return protocol === 'tcp' ? listenTcpFront(options) : listenUdpFront(options);
  }
}

/** An address that is not of this machine cannot be served; node ports can. */
export function reportNotListening(log: Logger, { host, port, protocol }: Front, error: unknown): void {
  const { code } = error as NodeJS.ErrnoException;
  const fields = { address: host, port, protocol, code };
  if (code === 'EADDRNOTAVAIL') log.debug('an address of a service is not of this machine', fields);
  else log.warn('an address of a service cannot be listened on', fields);
}

/** The fronts that Services ask for. Of several Services with one address, the first in the order of names has it. */
export class FrontTable {
  readonly #keysOf = new Map<string, readonly string[]>();
  readonly #wanted = new Map<string, Map<string, Front>>();

  /** Services that have fronts. */
  get services(): Iterable<string> {
    return this.#keysOf.keys();
  }

  /** Replaces the fronts of a Service. Returns the keys of those that may have changed. */
  set(service: string, fronts: readonly Front[]): ReadonlySet<string> {
    const before = this.#keysOf.get(service) ?? [];
    for (const key of before) this.#remove(key, service);
    for (const front of fronts) {
      const key = keyOfFront(front);
      const owners = this.#wanted.get(key) ?? new Map<string, Front>();
      this.#wanted.set(key, owners.set(service, front));
    }
    const after = fronts.map(keyOfFront);
    if (after.length > 0) this.#keysOf.set(service, after);
    else this.#keysOf.delete(service);
    return new Set([...before, ...after]);
  }

  get(key: string): Front | undefined {
    const owners = this.#wanted.get(key);
    const [first] = [...(owners?.keys() ?? [])].sort();
    return first === undefined ? undefined : owners?.get(first);
  }

  #remove(key: string, service: string): void {
    const owners = this.#wanted.get(key);
    owners?.delete(service);
    if (owners?.size === 0) this.#wanted.delete(key);
  }
}
