import { FlowSchema } from '../../kinds/groups/flowcontrol/flow-schema.ts';
import { PriorityLevelConfiguration } from '../../kinds/groups/flowcontrol/priority-level-configuration.ts';
import type { Attributes, ResourceAttributes } from '../authz/authorizer.ts';
import type { Cache } from '../cache/cache.ts';
import type { Table } from '../cache/table.ts';
import { Histogram } from '../metrics/histogram.ts';
import type { Entering, Seat } from './admitting.ts';
import { defaultLevels, defaultSchemas } from './defaults.ts';
import { Level } from './level.ts';
import { belonging, belongs } from './match.ts';
import { type Bounds, boundsOf } from './seats.ts';
import { Flow } from './turns.ts';

export interface SchemasOptions {
  readonly cache: Cache;
  /** Seats of all levels together. */
  readonly seats: number;
  /** Seats of a level are free again. */
  readonly freed: (level: Level, seats: number) => void;
}

/** Flows of one schema that are known by name; when there are more, all are forgotten, which costs a turn's fairness. */
const FLOWS = 4096;
const WAITS = [0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30];
const NO_BOUNDS: Bounds = { nominal: 0, lower: 0, upper: 0 };

type Spec = FlowSchema['spec'];

/** What is counted of a schema's requests, however often it is written anew. */
class Counts {
  dispatched = 0;
  readonly refusals = new Map<string, number>();
  readonly waits = new Histogram(WAITS);

  refused(reason: string): void {
    this.refusals.set(reason, (this.refusals.get(reason) ?? 0) + 1);
  }

  waited(seconds: number): void {
    this.waits.observe(seconds);
  }
}

/** A flow schema whose level is there. */
class Schema {
  readonly #flows = new Map<string, Flow>();
  readonly headers: readonly string[];

  constructor(
    readonly name: string,
    uid: string,
    readonly spec: Spec,
    readonly level: Level,
    readonly counts: Counts,
  ) {
    this.headers = ['X-Kubernetes-PF-FlowSchema-UID', uid, 'X-Kubernetes-PF-PriorityLevel-UID', level.uid];
  }

  flowOf(distinguisher: string): Flow {
    let flow = this.#flows.get(distinguisher);
    if (!flow) {
      if (this.#flows.size >= FLOWS) this.#flows.clear();
      flow = new Flow(`${this.name}/${distinguisher}`);
      this.#flows.set(distinguisher, flow);
    }
    return flow;
  }
}

/** Where a request belongs. Shared by all requests of a flow. */
export class Belongs {
  readonly level: Level;
  /** For most requests; others have one of their own. */
  readonly seat: Seat;
  readonly #freed: SchemasOptions['freed'];

  constructor(
    readonly of: Schema,
    readonly flow: Flow,
    freed: SchemasOptions['freed'],
  ) {
    this.level = of.level;
    this.#freed = freed;
    this.seat = this.wide(1);
  }

  get schema(): Counts {
    return this.of.counts;
  }

  wide(seats: number): Seat {
    const { level } = this;
    return {
      headers: this.of.headers,
      pause: () => this.#freed(level, seats),
      resume: () => {
        level.executing += seats;
      },
      leave: () => {
        level.running--;
        this.#freed(level, seats);
      },
    };
  }
}

/** A schema that a request of a sort may belong to. */
interface Candidate {
  readonly schema: Schema;
  readonly isCertain: boolean;
}

interface Sorted {
  readonly candidates: readonly Candidate[];
  /** Where all requests of the sort belong to the same flow. */
  readonly always: Belongs | undefined;
}

/** Sorts requests. What the store says is looked at anew when it has changed. */
export class Schemas {
  readonly #options: SchemasOptions;
  readonly #counts = new Map<string, Counts>();
  readonly #stored: readonly Table[];
  readonly #levels = new Map<string, Level>();
  #belongs = new WeakMap<Flow, Belongs>();
  #schemas: readonly Schema[] = [];
  #generation = -1;

  constructor(options: SchemasOptions) {
    this.#options = options;
    this.#stored = [options.cache.table(FlowSchema), options.cache.table(PriorityLevelConfiguration)];
  }

  get levels(): Iterable<Level> {
    return this.#levels.values();
  }

  /** In the order in which they are asked. */
  get all(): readonly Schema[] {
    this.#refresh();
    return this.#schemas;
  }

  of({ attributes, memo }: Pick<Entering, 'attributes' | 'memo'>): Belongs {
    this.#refresh();
    if (attributes.path !== undefined || !memo) {
      const schema = this.#schemas.find(({ spec }) => belongs(spec.rules ?? [], attributes)) ?? this.#last();
      return this.#in(schema, attributes);
    }
    if (memo.flowGeneration !== this.#generation) {
      memo.flow = this.#sort(attributes);
      memo.flowGeneration = this.#generation;
    }
    const sorted = memo.flow as Sorted;
    if (sorted.always) return sorted.always;
    for (const { schema, isCertain } of sorted.candidates) {
      if (isCertain || belongs(schema.spec.rules ?? [], attributes)) return this.#in(schema, attributes);
    }
    return this.#in(this.#last(), attributes);
  }

  /** A user in neither of the two groups that everybody is in belongs to the last one, too. */
  #last(): Schema {
    return this.#schemas.at(-1)!;
  }

  #sort(attributes: ResourceAttributes): Sorted {
    const candidates: Candidate[] = [];
    for (const schema of this.#schemas) {
      const found = belonging(schema.spec.rules ?? [], attributes);
      if (found === 'never') continue;
      candidates.push({ schema, isCertain: found === 'always' });
      if (found === 'always') break;
    }
    const [first] = candidates;
    const isOneFlow = first?.isCertain && first.schema.spec.distinguisherMethod?.type !== 'ByNamespace';
    const always = isOneFlow ? this.#in(first.schema, attributes) : undefined;
    return { candidates, always };
  }

  #in(schema: Schema, attributes: Attributes): Belongs {
    const flow = schema.flowOf(distinguisherOf(schema.spec, attributes));
    const known = this.#belongs.get(flow);
    if (known) return known;
    const made = new Belongs(schema, flow, this.#options.freed);
    this.#belongs.set(flow, made);
    return made;
  }

  #refresh(): void {
    let generation = 0;
    for (const table of this.#stored) generation += table.generation;
    if (generation === this.#generation) return;
    this.#generation = generation;
    this.#belongs = new WeakMap();
    this.#configureLevels();
    this.#schemas = this.#readSchemas();
  }

  #configureLevels(): void {
    const { cache, seats } = this.#options;
    const specs = new Map([...defaultLevels] as [string, PriorityLevelConfiguration['spec']][]);
    const uids = new Map<string, string>();
    for (const entry of cache.table(PriorityLevelConfiguration).entries('')) {
      const { metadata, spec } = entry.hub(PriorityLevelConfiguration) as PriorityLevelConfiguration;
      specs.set(entry.at.name, spec);
      uids.set(entry.at.name, metadata.uid ?? '');
    }
    const bounds = boundsOf(specs, seats);
    for (const [name, spec] of specs) {
      const level = this.#levels.get(name) ?? new Level(name);
      level.configure(uids.get(name) ?? '', spec, bounds.get(name) ?? NO_BOUNDS);
      this.#levels.set(name, level);
    }
    for (const [name, level] of this.#levels) {
      if (!specs.has(name) && level.waiting === 0 && level.running === 0) this.#levels.delete(name);
    }
  }

  #readSchemas(): readonly Schema[] {
    const found = new Map([...defaultSchemas].map(([name, spec]) => [name, { uid: '', spec: spec as Spec }]));
    for (const entry of this.#options.cache.table(FlowSchema).entries('')) {
      const { metadata, spec } = entry.hub(FlowSchema) as FlowSchema;
      found.set(entry.at.name, { uid: metadata.uid ?? '', spec });
    }
    return [...found]
      .flatMap(([name, { uid, spec }]) => {
        const level = this.#levels.get(spec.priorityLevelConfiguration.name);
        return level ? [new Schema(name, uid, spec, level, this.#countsOf(name))] : [];
      })
      .sort((a, b) => a.spec.matchingPrecedence - b.spec.matchingPrecedence || (a.name < b.name ? -1 : 1));
  }

  #countsOf(name: string): Counts {
    const counts = this.#counts.get(name) ?? new Counts();
    this.#counts.set(name, counts);
    return counts;
  }
}

function distinguisherOf({ distinguisherMethod }: Spec, attributes: Attributes): string {
  switch (distinguisherMethod?.type) {
    case 'ByUser':
      return attributes.user.name;
    case 'ByNamespace':
      return attributes.path === undefined ? attributes.namespace : '';
    default:
      return '';
  }
}

export type { Schema };
