/** Serves the clients of fronts, by what the fronts are at the time. */

import type { Random } from '../../base/random.ts';
import type { Listening, ListenOn } from '../../base/sockets/listening.ts';
import type { Clock } from '../../base/time/clock.ts';
import type { Protocol } from '../rules/rule-set.ts';
import { FrontTable } from './front-table.ts';
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
