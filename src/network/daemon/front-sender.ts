/** Applies the rules of a node with sockets of the daemon, which go on when the program ends. */
import type { RuleApplier, RuleChange } from '../rules/rule-set.ts';
import { type Front, frontsOf } from '../userspace/fronts.ts';
import type { FrontsPart, ServiceFronts } from './calls.ts';

/** Fronts and endpoints of one message. */
const MAX_PART = 1_000;

export class FrontSender implements RuleApplier {
  /** Services that have fronts. */
  readonly #services = new Map<string, readonly Front[]>();
  /** True when the daemon knows everything but what is sent now. */
  #isKnown = false;
  #sending: Promise<void> = Promise.resolve();

  constructor(
    private readonly node: string,
    private readonly send: (part: FrontsPart) => Promise<void>,
  ) {}

  apply({ services }: RuleChange): Promise<void> {
    for (const [service, { ports }] of services) {
      const fronts = ports.flatMap(frontsOf);
      if (fronts.length > 0) this.#services.set(service, fronts);
      else this.#services.delete(service);
    }
    return this.#inOrder(() => this.#sendAll([...services.keys()]));
  }

  /** Sends everything to a daemon that knows nothing. */
  repeat(): Promise<void> {
    return this.#inOrder(() => {
      this.#isKnown = false;
      return this.#sendAll([]);
    });
  }

  close(): Promise<void> {
    this.#services.clear();
    return this.repeat();
  }

  #inOrder(work: () => Promise<void>): Promise<void> {
    const done = this.#sending.then(work);
    this.#sending = done.catch(() => undefined);
    return done;
  }

  /** After a call that failed, the next one sends everything. */
  async #sendAll(changed: readonly string[]): Promise<void> {
    const isAll = !this.#isKnown;
    this.#isKnown = false;
    const names = isAll ? [...this.#services.keys()] : changed;
    const parts = partsOf(names.map((service) => ({ service, fronts: this.#services.get(service) ?? [] })));
    for (const [index, services] of parts.entries()) {
      await this.send({ node: this.node, services, isAll, isLast: index === parts.length - 1 });
    }
    this.#isKnown = true;
  }
}

/** At least one. */
function partsOf(services: readonly ServiceFronts[]): ServiceFronts[][] {
  let part: ServiceFronts[] = [];
  const parts = [part];
  let weight = 0;
  for (const each of services) {
    if (weight >= MAX_PART) {
      part = [];
      parts.push(part);
      weight = 0;
    }
    part.push(each);
    weight += each.fronts.reduce((sum, { endpoints }) => sum + 1 + endpoints.length, 1);
  }
  return parts;
}
