/** Applies rules with sockets of this process. */

import type { Logger } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import type { Listening } from '../../base/sockets/listening.ts';
import type { Clock } from '../../base/time/clock.ts';
import type { RuleApplier, RuleChange } from '../rules/rule-set.ts';
import { FrontServer, FrontTable, reportNotListening } from './front-server.ts';
import { type Front, frontsOf } from './fronts.ts';

export interface UserspaceProxyOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

export class UserspaceProxy implements RuleApplier {
  readonly #table = new FrontTable();
  readonly #server: FrontServer;
  readonly #open = new Map<string, Listening>();

  constructor(private readonly options: UserspaceProxyOptions) {
    this.#server = new FrontServer(options);
    this.#server.use(this.#table);
  }

  async apply({ services }: RuleChange): Promise<void> {
    const touched = [...services].flatMap(([service, { ports }]) => [
      ...this.#table.set(service, ports.flatMap(frontsOf)),
    ]);
    await Promise.all([...new Set(touched)].map((key) => this.#settle(key)));
  }

  async close(): Promise<void> {
    const open = [...this.#open.values()];
    this.#open.clear();
    await Promise.all(open.map((each) => each.close()));
  }

  async #settle(key: string): Promise<void> {
    const front = this.#table.get(key);
    const open = this.#open.get(key);
    if (front && !open) await this.#listen(key, front);
    if (front || !open) return;
    this.#open.delete(key);
    await open.close();
  }

  async #listen(key: string, front: Front): Promise<void> {
    const { protocol, host: address, port } = front;
    try {
      this.#open.set(key, await this.#server.listen(protocol, key, { address, port }));
    } catch (error) {
      reportNotListening(this.options.log, front, error);
    }
  }
}
