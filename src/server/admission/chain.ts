import type { Kind, KubeObject } from '../../kinds/kind.ts';
import type { Condition, Write } from '../../store/store.ts';
import type { Call } from '../api.ts';
import type { Core } from '../core.ts';
import { isDryRun } from '../objects/dry-run.ts';
import type { ApiRequest } from '../operation.ts';
import type { Resource } from '../registry.ts';
import type { RequestNotes } from '../request-notes.ts';
import type { AdmissionOperation, AdmissionPlugin, AdmissionRequest } from './plugin.ts';

/** Those who have a say in one operation on one kind, in their order. */
interface Stage {
  readonly admitting: readonly AdmissionPlugin[];
  readonly validating: readonly AdmissionPlugin[];
}

export interface Opening {
  readonly operation: AdmissionOperation;
  readonly resource: Resource;
  /** Where it is another than the call's. */
  readonly name?: string;
  readonly object: KubeObject | undefined;
  readonly old: KubeObject | undefined;
  /** Where it is another than the call's. */
  readonly dryRun?: boolean;
}

/** The plugins that are enabled. Who handles what is found out once a kind, so that the others cost nothing. */
export class AdmissionChain {
  readonly #plugins: readonly AdmissionPlugin[];
  readonly #stages = new WeakMap<Kind, Map<string, Stage | undefined>>();

  constructor(plugins: readonly AdmissionPlugin[]) {
    this.#plugins = plugins;
  }

  /** The way of one request through the chain; undefined when nobody has a say in it. */
  open(core: Core, request: ApiRequest, opening: Opening): Admission | undefined {
    const stage = this.#stageOf(opening.resource.kind, opening.operation, request.call.subresource);
    return stage && new Admission(core, stage, request, opening);
  }

  #stageOf(kind: Kind, operation: AdmissionOperation, subresource: string | undefined): Stage | undefined {
    let stages = this.#stages.get(kind);
    if (!stages) {
      stages = new Map();
      this.#stages.set(kind, stages);
    }
    const key = subresource ? `${operation}/${subresource}` : operation;
    const known = stages.get(key);
    if (known || stages.has(key)) return known;
    const stage = this.#find(kind, operation, subresource);
    stages.set(key, stage);
    return stage;
  }

  #find(kind: Kind, operation: AdmissionOperation, subresource: string | undefined): Stage | undefined {
    const handling = this.#plugins.filter((plugin) => plugin.handles(kind, operation, subresource));
    if (handling.length === 0) return undefined;
    return {
      admitting: handling.filter((plugin) => plugin.admit),
      validating: handling.filter((plugin) => plugin.validate),
    };
  }
}

/** One request on its way: first admit(), then validate(), and settle() in the end, whatever happened. */
export class Admission implements AdmissionRequest {
  readonly #core: Core;
  readonly #stage: Stage;
  readonly #call: Call;
  readonly #notes: RequestNotes;
  #settled: (() => void)[] | undefined;
  readonly operation: AdmissionOperation;
  readonly resource: Resource;
  name: string;
  readonly old: KubeObject | undefined;
  readonly dryRun: boolean;
  readonly also: Write[] = [];
  readonly conditions: Condition[] = [];
  readonly object: KubeObject | undefined;

  constructor(core: Core, stage: Stage, { call, notes }: ApiRequest, opening: Opening) {
    this.#core = core;
    this.#stage = stage;
    this.#call = call;
    this.#notes = notes;
    this.operation = opening.operation;
    this.resource = opening.resource;
    this.name = opening.name ?? call.name ?? '';
    this.object = opening.object;
    this.old = opening.old;
    this.dryRun = opening.dryRun ?? isDryRun(call);
  }

  get kind(): Kind {
    return this.resource.kind;
  }

  get subresource(): string | undefined {
    return this.#call.subresource;
  }

  get namespace(): string {
    return this.#call.namespace ?? '';
  }

  get user(): Call['user'] {
    return this.#call.user;
  }

  get options(): Call['options'] {
    return this.#call.options;
  }

  warn(text: string): void {
    this.#notes.warn(text);
  }

  annotate(key: string, value: string): void {
    this.#notes.annotate(key, value);
  }

  onSettled(callback: () => void): void {
    this.#settled ??= [];
    this.#settled.push(callback);
  }

  /** Lets plugins change the object. Undefined when all of them answered at once. */
  admit(from = 0): Promise<void> | undefined {
    const plugins = this.#stage.admitting;
    for (let at = from; at < plugins.length; at++) {
      const waiting = plugins[at]!.admit!(this.#core, this);
      if (waiting) return waiting.then(() => this.admit(at + 1));
    }
    return undefined;
  }

  /** Lets plugins refuse the object. By now it has its name. */
  validate(from = 0): Promise<void> | undefined {
    this.name ||= this.object?.metadata.name ?? '';
    const plugins = this.#stage.validating;
    for (let at = from; at < plugins.length; at++) {
      const waiting = plugins[at]!.validate!(this.#core, this);
      if (waiting) return waiting.then(() => this.validate(at + 1));
    }
    return undefined;
  }

  /** Both in one, where nothing of the server's stands between. */
  run(): Promise<void> | undefined {
    const waiting = this.admit();
    return waiting ? waiting.then(() => this.validate()) : this.validate();
  }

  settle(): void {
    for (const callback of this.#settled ?? []) callback();
    this.#settled = undefined;
  }
}
