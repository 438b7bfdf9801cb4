/** Applies rules with sockets of this process. */

import type { Logger } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import type { Clock } from '../../base/time/clock.ts';
import type { RuleApplier, RuleChange } from '../rules/applier.ts';
import { type Front, frontsOf, keyOfFront } from './fronts.ts';
import type { OpenFront } from './open-front.ts';
import { Picker } from './picker.ts';
import { openTcpFront } from './tcp-front.ts';
import { openUdpFront } from './udp-front.ts';

export interface UserspaceProxyOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

export class UserspaceProxy implements RuleApplier {
  readonly #options: UserspaceProxyOptions;
  readonly #picker: Picker;
  readonly #keysOf = new Map<string, readonly string[]>();
  /** The fronts that services ask for, by key and service. The first service, in the order of names, has it. */
  readonly #wanted = new Map<string, Map<string, Front>>();
  readonly #open = new Map<string, OpenFront>();

  constructor(options: UserspaceProxyOptions) {
    this.#options = options;
    this.#picker = new Picker(options.clock, options.random);
  }

  async apply({ services }: RuleChange): Promise<void> {
    const touched = new Set<string>();
    for (const [service, { ports }] of services) {
      for (const key of this.#keysOf.get(service) ?? []) {
        touched.add(key);
        this.#wanted.get(key)?.delete(service);
      }
      const fronts = ports.flatMap(frontsOf);
      for (const front of fronts) {
        const key = keyOfFront(front);
        touched.add(key);
        const owners = this.#wanted.get(key) ?? new Map<string, Front>();
        this.#wanted.set(key, owners.set(service, front));
      }
      if (fronts.length > 0) this.#keysOf.set(service, fronts.map(keyOfFront));
      else this.#keysOf.delete(service);
    }
    await Promise.all([...touched].map((key) => this.#settle(key)));
  }

  async close(): Promise<void> {
    const open = [...this.#open.values()];
    this.#open.clear();
    await Promise.all(open.map((front) => front.close()));
  }

  async #settle(key: string): Promise<void> {
    const owners = this.#wanted.get(key);
    const [first] = [...(owners?.keys() ?? [])].sort();
    const front = first === undefined ? undefined : owners?.get(first);
    const open = this.#open.get(key);
    if (front) {
      if (open) open.use(front);
      else await this.#listen(key, front);
      return;
    }
    this.#wanted.delete(key);
    this.#open.delete(key);
    await open?.close();
  }

  /** An address that is not of this machine cannot be served; node ports can. */
  async #listen(key: string, front: Front): Promise<void> {
    const { clock, log } = this.#options;
    try {
      const open =
        front.protocol === 'tcp' ? openTcpFront(front, this.#picker) : openUdpFront(front, this.#picker, clock);
      this.#open.set(key, await open);
    } catch (error) {
      const { host, port, protocol } = front;
      const { code } = error as NodeJS.ErrnoException;
      const fields = { address: host, port, protocol, code };
      if (code === 'EADDRNOTAVAIL') log.debug('an address of a service is not of this machine', fields);
      else log.warn('an address of a service cannot be listened on', fields);
    }
  }
}
