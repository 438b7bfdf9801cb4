/** Follows the API, keeps the proxy up to date, and writes where Ingresses are reached into their status. */

import { isApiError } from '../../base/errors.ts';
import { soon } from '../../base/event-loop/soon.ts';
import type { Logger } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import type { Clock } from '../../base/time/clock.ts';
import type { Client } from '../../client/client.ts';
import { createEventRecorder } from '../../client/events/event-recorder.ts';
import { InformerFactory } from '../../client/informer/informer-factory.ts';
import type { DeepReadonly } from '../../client/object-types.ts';
import { Secret } from '../../kinds/groups/core/secret.ts';
import { Service } from '../../kinds/groups/core/service/service.ts';
import { EndpointSlice } from '../../kinds/groups/discovery/endpoint-slice.ts';
import { Ingress } from '../../kinds/groups/networking/ingress.ts';
import { IngressClass } from '../../kinds/groups/networking/ingress-class.ts';
import type { IngressConfig } from './config.ts';
import { planIngress } from './plan.ts';

/** The name of our class, and what its objects say in `spec.controller`. */
const CLASS_NAME = 'quarterdeck';
const CONTROLLER_NAME = 'kubernetes.io/quarterdeck-ingress';

export interface IngressControllerOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Where clients reach the proxy. */
  readonly address: string;
  /** Where it listens instead of the usual ports, which something else has; empty when it has them. */
  readonly movedPorts: readonly MovedPort[];
  readonly use: (config: IngressConfig) => void;
}

/** A port that something else listens on, and the one that is used in its place. */
export interface MovedPort {
  readonly usual: number;
  readonly used: number;
}

type SeenIngress = DeepReadonly<Ingress>;

const PORT_IN_USE = 'PortInUse';
const CLASS_ANNOTATION = 'kubernetes.io/ingress.class';
const DEFAULT_ANNOTATION = 'ingressclass.kubernetes.io/is-default-class';
const SERVICE_NAME = 'kubernetes.io/service-name';
const TLS_SECRETS = { fieldSelector: 'type=kubernetes.io/tls' };

const byService = ({ metadata }: DeepReadonly<EndpointSlice>) => [
  `${metadata.namespace}/${metadata.labels?.[SERVICE_NAME] ?? ''}`,
];

export class IngressController {
  readonly #options: IngressControllerOptions;
  readonly #stop = new AbortController();
  readonly #informers: InformerFactory;
  #isSynced = false;
  readonly #changed = soon(() => this.#apply());
  readonly #writing = new Set<string>();

  constructor(options: IngressControllerOptions) {
    this.#options = options;
    this.#informers = new InformerFactory({ ...options, signal: this.#stop.signal });
  }

  /** Resolves when the proxy has the rules of all Ingresses. */
  async start(): Promise<void> {
    await this.#ensureClass();
    const informers = this.#informers;
    const all = [
      informers.of(Ingress),
      informers.of(IngressClass),
      informers.of(Service),
      informers.of(EndpointSlice),
      informers.of(Secret, TLS_SECRETS),
    ];
    for (const informer of all) informer.onChange(() => this.#isSynced && this.#changed());
    await Promise.all(all.map(({ synced }) => synced));
    this.#isSynced = true;
    this.#reportMovedPorts();
    this.#apply();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#informers.stopped();
  }

  /** Creates the class if there is none. A class that is deleted while the program runs comes back with the next start. */
  async #ensureClass(): Promise<void> {
    const classes = this.#options.client.of(IngressClass);
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
    const { movedPorts } = this.#options;
    const found = this.#informers.of(IngressClass).lister.get(CLASS_NAME);
    if (movedPorts.length === 0 || !found) return;
    const events = createEventRecorder({
      ...this.#options,
      signal: this.#stop.signal,
      component: 'ingress-controller',
    });
    for (const { usual, used } of movedPorts) {
      const message = `Something else listens on port ${usual}: Ingresses are served on port ${used} instead`;
      events.event(found, 'Warning', PORT_IN_USE, message);
    }
  }

  #apply(): void {
    if (this.#stop.signal.aborted) return;
    const informers = this.#informers;
    const ingresses = informers
      .of(Ingress)
      .lister.list()
      .filter((ingress) => this.#isOurs(ingress));
    this.#options.use(
      planIngress({
        ingresses,
        service: (namespace, name) => informers.of(Service).lister.get(name, namespace),
        slices: (namespace, service) => informers.of(EndpointSlice).lister.by(byService, `${namespace}/${service}`),
        secret: (namespace, name) => informers.of(Secret, TLS_SECRETS).lister.get(name, namespace),
      }),
    );
    for (const ingress of ingresses) this.#writeStatus(ingress);
  }

  #isOurs({ metadata, spec }: SeenIngress): boolean {
    const name = spec?.ingressClassName;
    if (name === undefined) return metadata.annotations?.[CLASS_ANNOTATION] === CLASS_NAME;
    return this.#informers.of(IngressClass).lister.get(name)?.spec?.controller === CONTROLLER_NAME;
  }

  #writeStatus({ metadata: { namespace, name = '', uid = '' }, status }: SeenIngress): void {
    const { client, address, movedPorts, log } = this.#options;
    const current = status?.loadBalancer?.ingress ?? [];
    const ports = movedPorts.flatMap(({ usual, used }) => [
      { port: usual, protocol: 'TCP', error: PORT_IN_USE },
      { port: used, protocol: 'TCP' },
    ]);
    const numbers = (each: readonly { readonly port?: number }[] = []) => each.map(({ port }) => port).join();
    const isCurrent =
      current.length === 1 && current[0]?.ip === address && numbers(current[0].ports) === numbers(ports);
    if (isCurrent || this.#writing.has(uid)) return;
    const ingress = [{ ip: address, ...(ports.length > 0 ? { ports } : {}) }];
    this.#writing.add(uid);
    client
      .of(Ingress)
      .in(namespace)
      .patchStatus(name, { type: 'merge', changes: { status: { loadBalancer: { ingress } } } })
      .catch((error: unknown) => {
        if (!isApiError(error, 'NotFound'))
          log.warn('the status of an Ingress was not written', { name, namespace, error });
      })
      .finally(() => this.#writing.delete(uid));
  }
}
