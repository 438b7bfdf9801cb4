import { createHash } from 'node:crypto';
import { getOrInsert } from '../../../base/collections/get-or-insert.ts';
import { Histogram } from '../../../base/metrics/histogram.ts';
import { FlowSchema } from '../../../kinds/groups/flowcontrol/flow-schema.ts';
import { PriorityLevelConfiguration } from '../../../kinds/groups/flowcontrol/priority-level-configuration.ts';
import type { Cache } from '../../objects/cache/cache.ts';
import type { Table } from '../../objects/cache/table.ts';
import type { Attributes, ResourceAttributes } from '../authz/authorizer.ts';
import { type ConcurrencyLimits, concurrencyLimitsOf } from './concurrency-limits.ts';
import { defaultLevels, defaultSchemas } from './defaults.ts';
import type { FlowControlRequest, Seat } from './flow-control.ts';
import { matches, matchInAnyNamespace } from './flow-schema-match.ts';
import { PriorityLevel } from './priority-level.ts';
import { Flow } from './turn-scheduler.ts';

export interface FlowSchemasOptions {
  readonly cache: Cache;
  /** Seats of all priority levels together. */
  readonly seats: number;
  /** Called when seats of a level are free again. */
  readonly onSeatsFreed: (level: PriorityLevel, seats: number) => void;
}

/** Limit for the flows of one schema; beyond it all are dropped, which costs the fairness of one turn. */
const MAX_FLOWS_PER_SCHEMA = 4096;
/** Limit for distinguishers; longer ones are hashed. */
const MAX_DISTINGUISHER_LENGTH = 128;
const WAIT_BUCKETS_SECONDS = [0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30];
const NO_LIMITS: ConcurrencyLimits = { nominal: 0, lower: 0, upper: 0 };

type Spec = FlowSchema['spec'];

/** Counters of a schema's requests. They survive changes of the schema. */
class SchemaCounts {
  dispatched = 0;
  readonly rejections = new Map<string, number>();
  readonly waits = new Histogram(WAIT_BUCKETS_SECONDS);

  rejected(reason: string): void {
    this.rejections.set(reason, (this.rejections.get(reason) ?? 0) + 1);
  }

  waited(seconds: number): void {
    this.waits.observe(seconds);
  }
}

/** A FlowSchema whose priority level exists. */
class ActiveSchema {
  readonly #flows = new Map<string, Flow>();
  readonly headers: readonly string[];

  constructor(
    readonly name: string,
    uid: string,
    readonly spec: Spec,
    readonly level: PriorityLevel,
    readonly counts: SchemaCounts,
  ) {
    this.headers = ['X-Kubernetes-PF-FlowSchema-UID', uid, 'X-Kubernetes-PF-PriorityLevel-UID', level.uid];
  }

  flowOf(text: string): Flow {
    // User names may be arbitrarily long, and a flow that is not kept would never wait for its turn.
    const distinguisher = shortened(text);
    return getOrInsert(this.#flows, distinguisher, () => {
      if (this.#flows.size >= MAX_FLOWS_PER_SCHEMA) this.#flows.clear();
      return new Flow(`${this.name}/${distinguisher}`);
    });
  }
}

/** The schema, priority level and flow of a request. Shared by all requests of the flow. */
export class FlowAssignment {
  readonly level: PriorityLevel;
  /** The seat shared by most requests, which take only one. */
  readonly seat: Seat;
  readonly counts: SchemaCounts;

  constructor(
    private readonly schema: ActiveSchema,
    readonly flow: Flow,
    private readonly onSeatsFreed: FlowSchemasOptions['onSeatsFreed'],
  ) {
    this.level = schema.level;
    this.counts = schema.counts;
    this.seat = this.seatOf(1);
  }

  seatOf(seats: number): Seat {
    const { level } = this;
    return {
      headers: this.schema.headers,
      pause: () => this.onSeatsFreed(level, seats),
      resume: () => {
        level.executingSeats += seats;
      },
      release: () => {
        level.executingRequests--;
        this.onSeatsFreed(level, seats);
      },
    };
  }
}

/** A schema that may match requests of a certain sort. */
interface Candidate {
  readonly schema: ActiveSchema;
  readonly isCertain: boolean;
}

/** The result shared by all requests of one user, verb and resource. */
interface Classification {
  readonly candidates: readonly Candidate[];
  /** Set if all of the requests belong to the same flow. */
  readonly always: FlowAssignment | undefined;
}

/** Assigns requests to priority levels and flows, by the FlowSchemas and PriorityLevelConfigurations in the cache. */
export class FlowSchemas {
  readonly #counts = new Map<string, SchemaCounts>();
  readonly #tables: readonly Table[];
  readonly #levels = new Map<string, PriorityLevel>();
  #assignments = new WeakMap<Flow, FlowAssignment>();
  #schemas: readonly ActiveSchema[] = [];
  #generation = -1;

  constructor(private readonly options: FlowSchemasOptions) {
    this.#tables = [options.cache.table(FlowSchema), options.cache.table(PriorityLevelConfiguration)];
  }

  get levels(): Iterable<PriorityLevel> {
    return this.#levels.values();
  }

  /** The schemas in the order in which they are tried. */
  get all(): readonly ActiveSchema[] {
    this.#refresh();
    return this.#schemas;
  }

  assign({ attributes, memo }: Pick<FlowControlRequest, 'attributes' | 'memo'>): FlowAssignment {
    this.#refresh();
    if (attributes.path !== undefined || !memo) {
      const schema = this.#schemas.find(({ spec }) => matches(spec.rules ?? [], attributes)) ?? this.#catchAll();
      return this.#assignTo(schema, attributes);
    }
    if (memo.flowGeneration !== this.#generation) {
      memo.flow = this.#classify(attributes);
      memo.flowGeneration = this.#generation;
    }
    const { always, candidates } = memo.flow as Classification;
    if (always) return always;
    for (const { schema, isCertain } of candidates) {
      if (isCertain || matches(schema.spec.rules ?? [], attributes)) return this.#assignTo(schema, attributes);
    }
    return this.#assignTo(this.#catchAll(), attributes);
  }

  /** Returns the last schema, which also accepts users that are in neither of the groups it names. */
  #catchAll(): ActiveSchema {
    return this.#schemas.at(-1)!;
  }

  #classify(attributes: ResourceAttributes): Classification {
    const candidates: Candidate[] = [];
    for (const schema of this.#schemas) {
      const match = matchInAnyNamespace(schema.spec.rules ?? [], attributes);
      if (match === 'never') continue;
      candidates.push({ schema, isCertain: match === 'always' });
      if (match === 'always') break;
    }
    const [first] = candidates;
    const isOneFlow = first?.isCertain && first.schema.spec.distinguisherMethod?.type !== 'ByNamespace';
    const always = isOneFlow ? this.#assignTo(first.schema, attributes) : undefined;
    return { candidates, always };
  }

  #assignTo(schema: ActiveSchema, attributes: Attributes): FlowAssignment {
    const flow = schema.flowOf(distinguisherOf(schema.spec, attributes));
    return getOrInsert(this.#assignments, flow, () => new FlowAssignment(schema, flow, this.options.onSeatsFreed));
  }

  #refresh(): void {
    let generation = 0;
    for (const table of this.#tables) generation += table.generation;
    if (generation === this.#generation) return;
    this.#generation = generation;
    this.#assignments = new WeakMap();
    this.#configureLevels();
    this.#schemas = this.#readSchemas();
    const names = new Set(this.#schemas.map(({ name }) => name));
    for (const name of this.#counts.keys()) if (!names.has(name)) this.#counts.delete(name);
  }

  #configureLevels(): void {
    const { cache, seats } = this.options;
    const specs = new Map([...defaultLevels] as [string, PriorityLevelConfiguration['spec']][]);
    const uids = new Map<string, string>();
    for (const entry of cache.table(PriorityLevelConfiguration).entries('')) {
      if (entry.failure(PriorityLevelConfiguration)) continue;
      const { metadata, spec } = entry.hub(PriorityLevelConfiguration) as PriorityLevelConfiguration;
      specs.set(entry.at.name, spec);
      uids.set(entry.at.name, metadata.uid ?? '');
    }
    const limits = concurrencyLimitsOf(specs, seats);
    for (const [name, spec] of specs) {
      const level = this.#levels.get(name) ?? new PriorityLevel(name);
      level.configure(uids.get(name) ?? '', spec, limits.get(name) ?? NO_LIMITS);
      this.#levels.set(name, level);
    }
    for (const [name, level] of this.#levels) {
      if (!specs.has(name) && level.waiting === 0 && level.executingRequests === 0) this.#levels.delete(name);
    }
  }

  #readSchemas(): readonly ActiveSchema[] {
    const found = new Map([...defaultSchemas].map(([name, spec]) => [name, { uid: '', spec: spec as Spec }]));
    for (const entry of this.options.cache.table(FlowSchema).entries('')) {
      if (entry.failure(FlowSchema)) continue;
      const { metadata, spec } = entry.hub(FlowSchema) as FlowSchema;
      found.set(entry.at.name, { uid: metadata.uid ?? '', spec });
    }
    return [...found]
      .flatMap(([name, { uid, spec }]) => {
        const level = this.#levels.get(spec.priorityLevelConfiguration.name);
        return level ? [new ActiveSchema(name, uid, spec, level, this.#countsOf(name))] : [];
      })
      .sort((a, b) => a.spec.matchingPrecedence - b.spec.matchingPrecedence || (a.name < b.name ? -1 : 1));
  }

  #countsOf(name: string): SchemaCounts {
    return getOrInsert(this.#counts, name, () => new SchemaCounts());
  }
}

/** Shortens a text to a unique and stable key. */
function shortened(text: string): string {
  if (text.length <= MAX_DISTINGUISHER_LENGTH) return text;
  return createHash('sha256').update(text).digest('hex');
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
