/** Follows the API, keeps the proxy up to date, and has the status of Ingresses say where they are reached. */

import { isApiError } from '../../api/errors.ts';
import type { DeepReadonly } from '../../api/object-types.ts';
import { inTurns } from '../../base/event-loop/in-turns.ts';
import { eachTurn, TurnBudget } from '../../base/event-loop/turn-budget.ts';
import { ReconcileLoop } from '../../base/reconcile/reconcile-loop.ts';
import type { ClientTools } from '../../client/client.ts';
import { createEventRecorder, type EventRecorder } from '../../client/events/event-recorder.ts';
import { InformerFactory } from '../../client/informer/informer-factory.ts';
import { keyOf } from '../../client/informer/object-cache.ts';
import { Secret } from '../../kinds/groups/core/configuration/secret.ts';
import { Service } from '../../kinds/groups/core/service/service.ts';
import { EndpointSlice } from '../../kinds/groups/discovery/endpoint-slice.ts';
import { Ingress } from '../../kinds/groups/networking/ingress.ts';
import { IngressClass } from '../../kinds/groups/networking/ingress-class.ts';
import type { IngressConfig } from './config.ts';
import { type MovedPort, moveMessage, moveReason } from './moved-port.ts';
import { type IngressPlan, type IngressPolicy, planIngress } from './plan/plan.ts';
import type { IngressProblem, SeenIngress } from './plan/rules.ts';
import { StatusWriter } from './status-writer.ts';

/** Name of our class, and the value of its objects' `spec.controller`. */
const CLASS_NAME = 'quarterdeck';
const CONTROLLER_NAME = 'kubernetes.io/quarterdeck-ingress';

export interface IngressControllerOptions extends ClientTools {
  /** Address at which clients reach the proxy. */
  readonly address: string;
  /** Where it listens instead of the usual ports; empty when it has them. */
  readonly movedPorts: readonly MovedPort[];
  readonly policy: IngressPolicy;
  /** True when other servers on the same store serve Ingresses, too. */
  readonly isShared: boolean;
  /** Resolves when requests follow the rules. */
  readonly use: (config: IngressConfig) => Promise<void>;
}

const CLASS_ANNOTATION = 'kubernetes.io/ingress.class';
const DEFAULT_ANNOTATION = 'ingressclass.kubernetes.io/is-default-class';
const SERVICE_NAME = 'kubernetes.io/service-name';
const TLS_SECRETS = { fieldSelector: 'type=kubernetes.io/tls' };

const serviceOf = ({ metadata }: DeepReadonly<EndpointSlice>) =>
  `${metadata.namespace}/${metadata.labels?.[SERVICE_NAME] ?? ''}`;
/** The Service of the servers. */
const SERVERS = 'default/kubernetes';
const byService = (slice: DeepReadonly<EndpointSlice>) => [serviceOf(slice)];

const RETRY = { base: 1_000, max: 60_000 };

/** Changes since a plan began. */
class Changes {
  readonly services = new Set<string>();
  ingresses = false;
  secrets = false;
}

export class IngressController {
  readonly #stop = new AbortController();
  readonly #informers: InformerFactory;
  readonly #turns: TurnBudget;
  #isSynced = false;
  /** Runs one plan at a time: changes meanwhile go into the next one. */
  readonly #loop: ReconcileLoop;
  #running: Promise<unknown> | undefined;
  #changes: Changes | undefined;
  /** Ingresses of our class. */
  #ingresses: readonly SeenIngress[] = [];
  #plan: IngressPlan | undefined;
  readonly #status: StatusWriter;
  readonly #events: EventRecorder;
  /** Keys of events that were recorded; kept as long as their reason persists. */
  #reported = new Set<string>();

  constructor(private readonly options: IngressControllerOptions) {
    const { signal } = this.#stop;
    this.#events = createEventRecorder({ ...options, signal, component: 'ingress-controller' });
    this.#turns = new TurnBudget(options.clock);
    this.#informers = new InformerFactory({ ...options, signal: this.#stop.signal });
    const { clock, random, log } = options;
    const informer = this.#informers.of(Ingress);
    this.#status = new StatusWriter({ ...options, informer, servers: () => this.#servers() });
    this.#loop = new ReconcileLoop({
      clock,
      random,
      log,
      turns: eachTurn,
      backoff: RETRY,
      failure: 'the rules of Ingresses could not be applied',
      reconcile: (_, errors) => this.#reconcile(errors.length > 0),
    });
  }

  /** Resolves when the proxy has the rules of all Ingresses. */
  async start(): Promise<void> {
    await this.#ensureClass();
    const informers = this.#informers;
    const [services, slices] = [informers.of(Service), informers.of(EndpointSlice)];
    const [ingresses, classes] = [informers.of(Ingress), informers.of(IngressClass)];
    const secrets = informers.of(Secret, TLS_SECRETS);
    for (const informer of [ingresses, classes]) informer.onChange(() => this.#note((to) => (to.ingresses = true)));
    secrets.onChange(() => this.#note((to) => (to.secrets = true)));
    services.onChange(({ object }) => this.#note((to) => to.services.add(keyOf(object))));
    // Entries of servers that have gone are removed.
    if (this.options.isShared) {
      slices.onChange(({ object }) => {
        if (serviceOf(object) === SERVERS) this.#note((to) => (to.ingresses = true));
      });
    }
    slices.onChange((change) =>
      this.#note((to) => {
        to.services.add(serviceOf(change.object));
        if (change.type === 'update') to.services.add(serviceOf(change.old));
      }),
    );
    await Promise.all([ingresses, classes, services, slices, secrets].map(({ synced }) => synced));
    this.#isSynced = true;
    this.#reportMovedPorts();
    this.#note((to) => (to.ingresses = true));
    const { signal } = this.#stop;
    this.#running = Promise.all([this.#loop.run(signal), this.#status.run(signal)]);
    await this.#loop.idle();
  }

  #note(add: (changes: Changes) => void): void {
    if (!this.#isSynced) return;
    this.#changes ??= new Changes();
    add(this.#changes);
    this.#loop.add('rules');
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#informers.stopped();
    await this.#running;
  }

  /** Creates the class if there is none. A class that is deleted while the program runs comes back with the next start. */
  async #ensureClass(): Promise<void> {
    const classes = this.options.client.of(IngressClass);
    try {
      await classes.create({
        metadata: { name: CLASS_NAME, annotations: { [DEFAULT_ANNOTATION]: 'true' } },
        spec: { controller: CONTROLLER_NAME },
      });
    } catch (error) {
      if (!isApiError(error, 'AlreadyExists')) throw error;
    }
  }

  #reportMovedPorts(): void {
    const { movedPorts } = this.options;
    const found = this.#informers.of(IngressClass).lister.get(CLASS_NAME);
    if (movedPorts.length === 0 || !found) return;
    for (const moved of movedPorts) this.#events.event(found, 'Warning', moveReason(moved), moveMessage(moved));
  }

  /** Records an event about each problem that is new. */
  #report(problems: readonly IngressProblem[]): void {
    const before = this.#reported;
    this.#reported = new Set();
    for (const { ingress, reason, message } of problems) {
      const key = JSON.stringify([ingress.metadata.uid, reason, message]);
      if (!before.has(key) && !this.#reported.has(key)) this.#events.event(ingress, 'Warning', reason, message);
      this.#reported.add(key);
    }
  }

  async #reconcile(isRepeated: boolean): Promise<void> {
    const changes = this.#changes ?? new Changes();
    this.#changes = undefined;
    if (isRepeated) {
      // A failed plan may lack some of the changes.
      this.#plan = undefined;
      changes.ingresses = true;
    }
    await this.#apply(changes);
  }

  async #apply(changes: Changes): Promise<void> {
    const informers = this.#informers;
    if (changes.ingresses) this.#ingresses = await this.#ownIngresses();
    const world = {
      ingresses: this.#ingresses,
      changes,
      policy: this.options.policy,
      service: (namespace: string, name: string) => informers.of(Service).lister.get(name, namespace),
      slices: (namespace: string, service: string) =>
        informers.of(EndpointSlice).lister.by(byService, `${namespace}/${service}`),
      secret: (namespace: string, name: string) => informers.of(Secret, TLS_SECRETS).lister.get(name, namespace),
    };
    this.#plan = await inTurns(this.#turns, planIngress(world, this.#plan, this.#turns), this.#stop);
    await this.options.use(this.#plan.config);
    this.#report(this.#plan.problems);
    if (!changes.ingresses) return;
    for (const ingress of this.#ingresses) {
      if (this.#turns.isSpent()) await this.#turns.nextTurn();
      this.#status.add(ingress);
    }
  }

  /** Returns the addresses of the servers of the cluster, which their leases decide. */
  #servers(): readonly string[] {
    if (!this.options.isShared) return [];
    const slices = this.#informers.of(EndpointSlice).lister.by(byService, SERVERS);
    return slices.flatMap(({ endpoints = [] }) => endpoints.flatMap(({ addresses }) => addresses));
  }

  async #ownIngresses(): Promise<readonly SeenIngress[]> {
    const own: SeenIngress[] = [];
    for (const ingress of this.#informers.of(Ingress).lister.list()) {
      if (this.#turns.isSpent()) await this.#turns.nextTurn();
      if (this.#isOurs(ingress)) own.push(ingress);
    }
    return own;
  }

  #isOurs({ metadata, spec }: SeenIngress): boolean {
    const name = spec?.ingressClassName;
    if (name === undefined) return metadata.annotations?.[CLASS_ANNOTATION] === CLASS_NAME;
    return this.#informers.of(IngressClass).lister.get(name)?.spec?.controller === CONTROLLER_NAME;
  }
}
