/** The program's side of a session. A daemon that ends is replaced by one that gets everything again. */

import type { Random } from '../../base/random.ts';
import type { Caller } from '../../base/sockets/keyed-socket/calls.ts';
import { Backoff } from '../../base/time/backoff.ts';
import type { Upstreams } from '../dns/upstream/stub-domains.ts';
import type { ZoneChange } from '../dns/zone/zone.ts';
import { EMPTY_CONFIG, type IngressConfig } from '../ingress/config.ts';
import { ConfigSender } from '../ingress/config-sender.ts';
import type { RuleApplier } from '../rules/rule-set.ts';
import { type DaemonCalls, type SessionSettings, sentChange } from './calls.ts';
import { type ConnectOptions, connectDaemon } from './connect.ts';
import type { Claim } from './doors.ts';
import { FrontSender } from './front-sender.ts';

export interface AttachOptions extends ConnectOptions {
  readonly settings: SessionSettings;
  readonly random: Random;
}

const RESTART_BACKOFF_MS = { base: 100, max: 30_000 };

export class AttachedDaemon {
  readonly #backoff: Backoff;
  readonly #claims: Claim[] = [];
  #caller!: Caller<DaemonCalls>;
  #rules!: ConfigSender;
  #config: IngressConfig = EMPTY_CONFIG;
  #clients: readonly string[] | undefined;
  #upstreams: Upstreams | undefined;
  readonly #fronts: FrontSender[] = [];
  #isCommitted = false;
  #isLeft = false;
  /** From the end of a daemon until the next one has everything: a daemon that ends meanwhile begins no second restart. */
  #isRestarting = false;
  /** False when the connection of the last session was lost. */
  #isConnected = false;
  #onRestart = () => {};
  #onListening: (isListening: boolean) => void = () => {};
  /** False while a daemon that was started again has not got its ports: another program may have them. */
  #isListening = true;

  /** Resolves with a session with the daemon of the directory, which is started if none is running. */
  static async open(options: AttachOptions): Promise<AttachedDaemon> {
    const attached = new AttachedDaemon(options);
    try {
      await attached.#begin();
    } catch (error) {
      attached.#isLeft = true;
      throw error;
    }
    return attached;
  }

  private constructor(private readonly options: AttachOptions) {
    this.#backoff = new Backoff(RESTART_BACKOFF_MS, options.random);
  }

  /** Calls back when another daemon runs, which has no zone yet. */
  onRestart(listener: () => void): void {
    this.#onRestart = listener;
  }

  /** Calls back when a daemon that was started again does not get its ports, and when it has them. */
  onListening(listener: (isListening: boolean) => void): void {
    this.#onListening = listener;
  }

  async listen(claim: Claim): Promise<number> {
    const port = await this.#caller.call('listen', claim);
    this.#claims.push({ ...claim, port });
    return port;
  }

  /** Resolves with the ports of an address that it listens on for an earlier program. */
  held({ kinds, address }: Omit<Claim, 'port'>): Promise<readonly number[]> {
    return this.#caller.call('held', { kinds, address });
  }

  zone(changes: readonly ZoneChange[], isComplete: boolean): void {
    this.#send('zone', { changes: changes.map(sentChange), isComplete });
  }

  allow(clients: readonly string[]): void {
    this.#clients = clients;
    this.#send('allow', { clients });
  }

  forward(upstreams: Upstreams): void {
    this.#upstreams = upstreams;
    this.#send('forward', { upstreams });
  }

  /** Resolves when requests follow the rules. */
  async use(config: IngressConfig): Promise<void> {
    this.#config = config;
    // A daemon that ends meanwhile is replaced by one that gets the rules.
    await this.#rules.use(config).catch((error) => this.#report('rules', error));
  }

  /** Serves the Services of a node with sockets of the daemon. */
  servicesOf(node: string): RuleApplier {
    const sender = new FrontSender(node, (part) => this.#caller.call('fronts', part));
    this.#fronts.push(sender);
    return sender;
  }

  /** The ports that it listens on besides those of Services. */
  get ports(): ReadonlySet<number> {
    return new Set(this.#claims.map(({ port }) => port));
  }

  /** Marks the state as complete: work for the program before that this one does not continue ends. */
  async commit(): Promise<void> {
    this.#isCommitted = true;
    await this.#caller.call('commit', {}).catch((error) => this.#report('commit', error));
  }

  /** Leaves the daemon, which continues with its state. */
  leave(): void {
    this.#isLeft = true;
    this.#caller.close();
  }

  async quit(): Promise<void> {
    this.#isLeft = true;
    await this.#caller.call('quit', {}).catch(() => undefined);
    this.#caller.close();
  }

  async #begin(): Promise<void> {
    const { settings, clock } = this.options;
    this.#isConnected = true;
    const caller = await connectDaemon(this.options, () => {
      this.#isConnected = false;
      this.#restart();
    });
    this.#caller = caller;
    this.#rules = new ConfigSender(clock, (part, isLast) => caller.call('rules', { part, isLast }));
    try {
      await caller.call('begin', { settings });
    } catch (error) {
      caller.close();
      throw error;
    }
  }

  #restart(): void {
    if (this.#isLeft || this.#isRestarting) return;
    this.#isRestarting = true;
    const { clock, log } = this.options;
    log.error('the network daemon ended; it is started again');
    clock.timer(this.#backoff.next(), () => void this.#startAgain());
  }

  async #startAgain(): Promise<void> {
    if (this.#isLeft) return;
    try {
      await this.#begin();
      await this.#repeat();
    } catch (error) {
      this.#report('start', error);
      this.#isConnected = false;
      this.#caller.close();
    }
    this.#isRestarting = false;
    if (!this.#isConnected) this.#restart();
  }

  async #repeat(): Promise<void> {
    if (this.#isLeft) {
      this.#caller.close();
      return;
    }
    await this.#listenAgain();
    if (this.#clients) this.allow(this.#clients);
    if (this.#upstreams) this.forward(this.#upstreams);
    await this.use(this.#config);
    for (const each of this.#fronts) await each.repeat().catch((error) => this.#report('fronts', error));
    this.#onRestart();
    if (this.#isCommitted) await this.commit();
  }

  async #listenAgain(): Promise<void> {
    try {
      for (const claim of this.#claims) await this.#caller.call('listen', claim);
      this.#listens(true);
    } catch (error) {
      this.#listens(false);
      throw error;
    }
  }

  #listens(isListening: boolean): void {
    if (this.#isListening === isListening || this.#isLeft) return;
    this.#isListening = isListening;
    const { log } = this.options;
    if (isListening) log.info('the network daemon listens on its ports again');
    else log.error('the network daemon does not get its ports: another program may have taken them');
    this.#onListening(isListening);
  }

  /** Sends changes to the daemon. Changes lost with a daemon are sent again to the next one. */
  #send<M extends 'zone' | 'allow' | 'forward'>(method: M, params: Parameters<DaemonCalls[M]>[0]): void {
    this.#caller.call(method, params as never).catch((error) => this.#report(method, error));
  }

  #report(work: string, error: unknown): void {
    this.options.log.debug('a call of the network daemon failed', { work, error: String(error) });
  }
}
