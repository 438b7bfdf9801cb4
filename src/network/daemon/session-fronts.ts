/** The fronts that a session asks for: what must be listened on for Services, by node. */
import type { Logger } from '../../base/log.ts';
import { type FrontServer, FrontTable, reportNotListening } from '../userspace/front-server.ts';
import type { Front } from '../userspace/fronts.ts';
import type { FrontsPart, ServiceFronts } from './calls.ts';
import type { Claim } from './doors.ts';

interface SessionFrontsOptions {
  readonly server: FrontServer;
  readonly log: Logger;
  readonly open: (claim: Claim) => Promise<unknown>;
  readonly close: (claim: Claim) => void;
}

export class SessionFronts {
  readonly #table = new FrontTable();
  /** Claims that it listens on. */
  readonly #open = new Map<string, Claim>();
  /** Services in the parts that have arrived so far, by node. */
  readonly #waiting = new Map<string, ServiceFronts[]>();
  #settled: Promise<void> = Promise.resolve();

  constructor(private readonly options: SessionFrontsOptions) {}

  /** Resolves when everything that was asked for is listened on. */
  get settled(): Promise<void> {
    return this.#settled;
  }

  /** Nothing changes before the last part is here. Resolves when new connections follow it. */
  take({ node, services, isAll, isLast }: FrontsPart): Promise<void> {
    const waiting = [...(this.#waiting.get(node) ?? []), ...services];
    this.#waiting.set(node, isLast ? [] : waiting);
    // One after the other: two could open the same address.
    if (!isLast) return Promise.resolve();
    const applied = this.#settled.then(() => this.#apply(node, waiting, isAll));
    this.#settled = applied.catch(() => undefined);
    return applied;
  }

  async #apply(node: string, services: readonly ServiceFronts[], isAll: boolean): Promise<void> {
    const own = (service: string) => `${node}/${service}`;
    const names = new Set(services.map(({ service }) => own(service)));
    const touched = new Set<string>();
    const set = (name: string, fronts: readonly Front[]) => {
      for (const key of this.#table.set(name, fronts)) touched.add(key);
    };
    const known = isAll ? [...this.#table.services].filter((name) => name.startsWith(own(''))) : [];
    for (const name of known) if (!names.has(name)) set(name, []);
    for (const { service, fronts } of services) set(own(service), fronts);
    this.options.server.use(this.#table);
    await Promise.all([...touched].map((key) => this.#settle(key)));
  }

  async #settle(key: string): Promise<void> {
    const { log, open, close } = this.options;
    const front = this.#table.get(key);
    const claim = this.#open.get(key);
    if (!front) {
      this.#open.delete(key);
      if (claim) close(claim);
      return;
    }
    if (claim) return;
    const wanted = claimOf(front);
    this.#open.set(key, wanted);
    await open(wanted).catch((error: unknown) => {
      this.#open.delete(key);
      reportNotListening(log, front, error);
    });
  }
}

const claimOf = ({ protocol, host, port }: Front): Claim => ({
  kinds: [`front-${protocol}`],
  address: host,
  port,
});
