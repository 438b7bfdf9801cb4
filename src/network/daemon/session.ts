/** Session of one program with the daemon: once complete, its state replaces that of the program before. */

import type { Logger } from '../../base/log.ts';
import type { DialGuard } from '../../base/sockets/dial/dial-guard.ts';
import type { Listening } from '../../base/sockets/listening.ts';
import type { DnsServer } from '../dns/server/dns-server.ts';
import { DnsNames, type NamesTools } from '../dns/server/names.ts';
import type { Upstreams } from '../dns/upstream/stub-domains.ts';
import { type ConfigChange, ConfigReplica } from '../ingress/changes.ts';
import type { IngressProxy } from '../ingress/proxy/proxy.ts';
import type { FrontServer } from '../userspace/front-server.ts';
import { receivedChange, type SentChange, type SessionSettings } from './calls.ts';
import { type Claim, Doors, type TakeDoor } from './doors.ts';
import { SessionFronts } from './session-fronts.ts';

export interface SessionTools extends NamesTools {
  readonly doors: Doors;
  readonly dns: DnsServer;
  readonly ingress: IngressProxy;
  readonly fronts: FrontServer;
  readonly log: Logger;
  /** Returns the guard that checks the addresses of backends. */
  readonly guardFor: (allowedDialRanges: readonly string[]) => DialGuard;
  /** Lets removed listeners end by themselves. */
  readonly release: (removed: readonly Listening[]) => void;
}

export class Session {
  readonly fronts: SessionFronts;
  readonly #names: DnsNames;
  readonly #rules = new ConfigReplica();
  readonly #guard: DialGuard;
  /** The doors that it uses. */
  readonly #claimed = new Set<string>();
  /** Doors that were opened for it. */
  readonly #opened = new Set<string>();
  #isCommitted = false;

  /** `isFirst` is true when there are no other names that could be answered meanwhile. */
  constructor(
    settings: SessionSettings,
    private readonly tools: SessionTools,
    isFirst: boolean,
  ) {
    this.#names = new DnsNames(settings.dns, tools);
    this.#guard = tools.guardFor(settings.allowedDialRanges);
    this.fronts = new SessionFronts({
      server: tools.fronts,
      log: tools.log,
      open: (claim) => this.listen(claim),
      close: (claim) => this.#unlisten(claim),
    });
    if (isFirst) tools.dns.use(this.#names);
  }

  get isCommitted(): boolean {
    return this.#isCommitted;
  }

  async listen(claim: Claim): Promise<number> {
    const { port, isNew } = await this.tools.doors.claim(claim, this.#claimed);
    for (const key of Doors.keysOf(claim, port)) {
      this.#claimed.add(key);
      if (isNew) this.#opened.add(key);
    }
    return port;
  }

  /** Returns ports that sessions have, except for those that this one uses already. */
  held(claim: Omit<Claim, 'port'>): readonly number[] {
    return this.tools.doors.held(claim, this.#claimed);
  }

  /** Closes a claim. Sockets of an earlier session stay open until this one is complete. */
  #unlisten(claim: Claim): void {
    const { doors, release } = this.tools;
    const keys = Doors.keysOf(claim, claim.port);
    const closed = keys.filter((key) => this.#claimed.delete(key) && (this.#isCommitted || this.#opened.delete(key)));
    release(doors.remove((key) => closed.includes(key)));
  }

  zone(changes: readonly SentChange[], isComplete: boolean): void {
    this.#names.apply(changes.map(receivedChange), isComplete);
    if (isComplete) this.tools.dns.use(this.#names);
  }

  allow(clients: readonly string[]): void {
    this.#names.allow(clients);
  }

  forward(upstreams: Upstreams): void {
    this.#names.forward(upstreams);
  }

  rules(part: readonly ConfigChange[], isLast: boolean): void {
    this.#rules.take(part, isLast);
    if (!isLast) return;
    this.tools.ingress.guardBy(this.#guard);
    this.tools.ingress.use(this.#rules.config);
  }

  /** Closes everything that no session uses any more. */
  async commit(take: TakeDoor): Promise<void> {
    const { doors, release } = this.tools;
    await this.fronts.settled;
    await doors.takeOthers(this.#claimed, take);
    release(doors.remove((key) => !this.#claimed.has(key)));
    this.#isCommitted = true;
  }

  /** Closes doors that were opened for it, when it ends before it was complete. */
  abandon(): void {
    if (this.#isCommitted) return;
    this.tools.release(this.tools.doors.remove((key) => this.#opened.has(key)));
  }
}
