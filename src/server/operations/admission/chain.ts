import type { Call, RequestNotes } from '../../../api/call.ts';
import { getOrInsert } from '../../../base/collections/get-or-insert.ts';
import type { Kind, KubeObject } from '../../../kinds/kind.ts';
import type { SubresourceName } from '../../../kinds/subresources.ts';
import { decode, LimitError } from '../../../schema/decode/decode.ts';
import type { ObjectSchema } from '../../../schema/schema.ts';
import type { Condition } from '../../../store/store.ts';
import type {
  AdditionalUpdate,
  Admission,
  AdmissionControl,
  AdmissionOperation,
  AdmissionSubject,
} from '../../objects/admission/request.ts';
import { invalidObject } from '../../objects/body/check.ts';
import { type ApiRequest, declaredSubresource, type Resource } from '../../objects/registry/registry.ts';
import type { PluginPorts } from '../ports.ts';
import type { AdmissionPlugin } from './plugin.ts';

/** The plugins that handle one operation on one kind, in order. */
interface Stages {
  readonly mutating: readonly AdmissionPlugin[];
  readonly validating: readonly AdmissionPlugin[];
}

/** The enabled plugins. The plugins for each operation are determined only once, so that the others cost nothing. */
export class AdmissionChain implements AdmissionControl {
  readonly #stages = new WeakMap<Kind, Map<string, Stages | undefined>>();

  /** `ports` creates the ports of plugins, once a request is admitted: the server needs the chain to create them. */
  constructor(
    private readonly plugins: readonly AdmissionPlugin[],
    private readonly ports: () => PluginPorts,
  ) {}

  /** Begins the admission of a request; undefined when no plugin handles it. */
  open(request: ApiRequest, subject: AdmissionSubject): Admission | undefined {
    const stages = this.#stagesOf(request.resource.kind, subject.operation, declaredSubresource(request.call));
    return stages && new OpenAdmission(this.ports(), stages, request, subject);
  }

  /** Runs in reverse order, since later plugins have seen the changes of earlier ones. */
  forget(kind: Kind, object: KubeObject): void {
    for (const plugin of this.plugins.toReversed()) {
      if (plugin.forget && plugin.handles(kind, 'CREATE', undefined)) plugin.forget(object);
    }
  }

  #stagesOf(kind: Kind, operation: AdmissionOperation, subresource: SubresourceName | undefined): Stages | undefined {
    const known = getOrInsert(this.#stages, kind, () => new Map());
    const key = subresource ? `${operation}/${subresource}` : operation;
    const stages = known.get(key);
    if (stages || known.has(key)) return stages;
    const found = this.#find(kind, operation, subresource);
    known.set(key, found);
    return found;
  }

  #find(kind: Kind, operation: AdmissionOperation, subresource: SubresourceName | undefined): Stages | undefined {
    const handling = this.plugins.filter((plugin) => plugin.handles(kind, operation, subresource));
    if (handling.length === 0) return undefined;
    return {
      mutating: handling.filter((plugin) => plugin.admit),
      validating: handling.filter((plugin) => plugin.validate),
    };
  }
}

/** The admission of one attempt: first admit(), then validate(), and finally settle(), whatever happened. */
class OpenAdmission implements Admission {
  readonly #call: Call;
  readonly #notes: RequestNotes;
  readonly #schema: ObjectSchema;
  #settled: (() => void)[] | undefined;
  #wantsReinvocation = false;
  readonly operation: AdmissionOperation;
  readonly resource: Resource;
  readonly body: AdmissionSubject['body'];
  readonly old: KubeObject | undefined;
  readonly dryRun: boolean;
  readonly also: AdditionalUpdate[] = [];
  readonly conditions: Condition[] = [];
  isReinvocation = false;
  name: string;
  object: KubeObject | undefined;

  constructor(
    private readonly ports: PluginPorts,
    private readonly stages: Stages,
    { resource, call, notes }: ApiRequest,
    subject: AdmissionSubject,
  ) {
    this.#call = call;
    this.#notes = notes;
    this.#schema = subject.body?.schema ?? resource.kind.hub.schema;
    this.operation = subject.operation;
    this.resource = resource;
    this.name = subject.name;
    this.object = subject.object;
    this.body = subject.body;
    this.old = subject.old;
    this.dryRun = subject.dryRun;
  }

  get kind(): Kind {
    return this.resource.kind;
  }

  get subresource(): SubresourceName | undefined {
    return declaredSubresource(this.#call);
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

  replace(object: KubeObject): void {
    this.object = object;
  }

  reinvoke(): void {
    if (!this.isReinvocation) this.#wantsReinvocation = true;
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

  /** Lets plugins change the object. Returns undefined when all of them were synchronous. */
  admit(from = 0): Promise<void> | undefined {
    const plugins = this.stages.mutating;
    for (let at = from; at < plugins.length; at++) {
      const plugin = plugins[at]!;
      const waiting = plugin.admit!(this.ports, this);
      if (waiting) {
        return waiting.then(() => {
          this.#applyDefaults(plugin);
          return this.admit(at + 1);
        });
      }
      this.#applyDefaults(plugin);
    }
    if (!this.#wantsReinvocation) return undefined;
    this.#wantsReinvocation = false;
    this.isReinvocation = true;
    return this.admit();
  }

  /** Lets plugins reject the object, which has its name by now. */
  validate(from = 0): Promise<void> | undefined {
    this.name ||= this.object?.metadata.name ?? '';
    const plugins = this.stages.validating;
    for (let at = from; at < plugins.length; at++) {
      const waiting = plugins[at]!.validate!(this.ports, this);
      if (waiting) return waiting.then(() => this.validate(at + 1));
    }
    return undefined;
  }

  settle(): void {
    const callbacks = this.#settled;
    this.#settled = undefined;
    for (const callback of callbacks ?? []) callback();
  }

  #applyDefaults(plugin: AdmissionPlugin): void {
    if (plugin.keepsDefaults || !this.object) return;
    const { object, old } = this;
    try {
      this.object = decode(this.#schema, object, { from: old, replaced: () => old }) as KubeObject;
    } catch (error) {
      if (!(error instanceof LimitError)) throw error;
      const { group, kind } = this.kind;
      throw invalidObject({ group, kind }, object.metadata.name ?? '', error.errors);
    }
  }
}
