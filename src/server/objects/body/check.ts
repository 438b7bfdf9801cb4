import type { Call } from '../../../api/call.ts';
import { ApiError, qualified } from '../../../api/errors.ts';
import { addAll } from '../../../base/collections/add-all.ts';
import { type DividedWork, inTurns, type Pace } from '../../../base/event-loop/in-turns.ts';
import type { TurnBudget } from '../../../base/event-loop/turn-budget.ts';
import type { Kind, KubeObject } from '../../../kinds/kind.ts';
import { validateObjectMeta } from '../../../kinds/shapes/meta/object-meta-rules.ts';
import { type FieldError, under } from '../../../schema/field-error.ts';
import { dnsSubdomain, nameRule } from '../../../schema/names.ts';
import type { RuleContext } from '../../../schema/schema.ts';
import { validate, validateInTurns } from '../../../schema/validate.ts';

const anyName = nameRule(dnsSubdomain);
const NONE: readonly never[] = Object.freeze([]);

interface Request {
  readonly old: KubeObject | undefined;
  readonly subresource: string | undefined;
  readonly apiVersion: string;
  /** A part of the object that is already known to be valid. */
  readonly checked?: object | undefined;
  /** The call whose signal aborts a long check. */
  readonly call?: Pick<Call, 'signal'> | undefined;
}

/** Validates an object that is about to be stored. Throws 422 with all errors. Returns undefined when done at once. */
export function checkObject(
  { turns }: { readonly turns: TurnBudget },
  kind: Kind,
  object: KubeObject,
  request: Request,
): Promise<void> | undefined {
  const { old, subresource, apiVersion, call } = request;
  const meta = validateObjectMeta(object.metadata, {
    operation: old ? 'update' : 'create',
    old: old?.metadata,
    nameRule: kind.name ?? anyName,
    namespaced: kind.scope === 'Namespaced',
    bareFinalizers: kind.bareFinalizers,
  });
  const content = contentWork(kind, object, request, turns);
  const found = 'next' in content ? inTurns(turns, content, call) : content;
  return found instanceof Promise ? found.then(checkRest) : checkRest(found);

  function checkRest(inside: readonly FieldError[]): Promise<void> | undefined {
    const errors = meta.length > 0 ? [...under('metadata', meta), ...inside] : inside;
    const work = kind.dividedRules?.(object, { old, subresource, apiVersion, pace: turns });
    const more = work && inTurns(turns, work, call);
    if (more instanceof Promise) return more.then((others) => reject(kind, object, [...errors, ...others]));
    reject(kind, object, more && more.length > 0 ? [...errors, ...more] : errors);
    return undefined;
  }
}

/** Validates without the metadata and long checks, for objects that are not stored and need no name. */
export function checkContent(kind: Kind, object: KubeObject, request: Request): void {
  const context = contextOf(object, request);
  reject(kind, object, withRules(kind, object, context, validate(kind.hub.schema, object, context)));
}

/** Returns the errors of the content, or the work of finding them if the object is large. */
function contentWork(
  kind: Kind,
  object: KubeObject,
  request: Request,
  pace: Pace,
): readonly FieldError[] | DividedWork<readonly FieldError[]> {
  const context = contextOf(object, request);
  const found = validateInTurns(kind.hub.schema, object, context, pace);
  return 'next' in found ? ruleWork(kind, object, context, found, pace) : withRules(kind, object, context, found);
}

function withRules(
  { rules = NONE }: Kind,
  object: KubeObject,
  context: RuleContext<KubeObject, KubeObject>,
  found: readonly FieldError[],
): readonly FieldError[] {
  let errors = found;
  for (let i = 0; i < rules.length; i++) {
    const more = rules[i]!(object, context);
    if (more.length > 0) errors = [...errors, ...more];
  }
  return errors;
}

function* ruleWork(
  { rules = NONE }: Kind,
  object: KubeObject,
  context: RuleContext<KubeObject, KubeObject>,
  validation: DividedWork<FieldError[]>,
  pace: Pace,
): DividedWork<readonly FieldError[]> {
  const errors = yield* validation;
  for (const rule of rules) {
    if (pace.isSpent()) yield;
    addAll(errors, rule(object, context));
  }
  return errors;
}

function contextOf(
  object: KubeObject,
  { old, subresource, apiVersion, checked }: Request,
): RuleContext<KubeObject, KubeObject> {
  return {
    operation: old ? 'update' : 'create',
    old,
    subresource,
    apiVersion,
    checked,
    parent: undefined,
    root: object,
    oldRoot: old,
  };
}

function reject(kind: Kind, object: KubeObject, errors: readonly FieldError[]): void {
  if (errors.length === 0) return;
  throw invalidObject({ group: kind.group, kind: kind.kind }, object.metadata.name ?? '', errors);
}

/** Creates the 422 for an invalid object or body, such as DeleteOptions. */
export function invalidObject(
  what: { group: string; kind: string },
  name: string,
  errors: readonly FieldError[],
): ApiError {
  const causes = causesOf(errors);
  const shown = cut(name, MAX_FIELD_CHARACTERS);
  const lines = [...new Set(causes.map((each) => `${each.field}: ${each.message}`))];
  const listed = lines.length === 1 ? lines[0] : `[${lines.join(', ')}]`;
  return new ApiError('Invalid', `${qualified(what.group, what.kind)} "${shown}" is invalid: ${listed}`, {
    details: {
      ...(shown ? { name: shown } : {}),
      ...(what.group ? { group: what.group } : {}),
      ...(what.kind ? { kind: what.kind } : {}),
      causes,
    },
  });
}

/** Limits for the errors in a response and the length of each text. */
const MAX_CAUSES = 1_000;
const MAX_CAUSES_CHARACTERS = 256 * 1024;
const MAX_FIELD_CHARACTERS = 1_000;
const MAX_MESSAGE_CHARACTERS = 32 * 1024;

function causesOf(errors: readonly FieldError[]): FieldError[] {
  const causes: FieldError[] = [];
  let left = MAX_CAUSES_CHARACTERS;
  for (let i = 0; i < errors.length && i < MAX_CAUSES && left > 0; i++) {
    const { reason, message, field } = errors[i]!;
    const cause = { reason, message: cut(message, MAX_MESSAGE_CHARACTERS), field: cut(field, MAX_FIELD_CHARACTERS) };
    left -= cause.message.length + cause.field.length;
    causes.push(cause);
  }
  return causes;
}

const cut = (text: string, length: number) => (text.length > length ? `${text.slice(0, length)}...` : text);
