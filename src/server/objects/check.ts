import { ApiError, qualified } from '../../base/errors.ts';
import { inTurns } from '../../base/event-loop/in-turns.ts';
import type { TurnBudget } from '../../base/event-loop/turn-budget.ts';
import type { Kind, KubeObject } from '../../kinds/kind.ts';
import { validateObjectMeta } from '../../kinds/shapes/meta/object-meta-rules.ts';
import { type FieldError, under } from '../../schema/field-error.ts';
import { dnsSubdomain, nameRule } from '../../schema/names.ts';
import type { RuleContext } from '../../schema/schema.ts';
import { validate } from '../../schema/validate.ts';
import type { Call } from '../api.ts';

const anyName = nameRule(dnsSubdomain);
const NONE: readonly never[] = Object.freeze([]);

interface Request {
  readonly old: KubeObject | undefined;
  readonly subresource: string | undefined;
  readonly apiVersion: string;
  /** A part of the object that is known to be valid by itself. */
  readonly checked?: object | undefined;
  /** Whose signal ends a check that takes long. */
  readonly call?: Pick<Call, 'signal'> | undefined;
}

/** Validates an object that is about to be stored. Throws 422 with everything that is wrong. Undefined: there is nothing to wait for. */
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
  const errors = contentErrors(kind, object, request, meta.length > 0 ? under('metadata', meta) : NONE);
  const work = kind.dividedRules?.(object, { old, subresource, apiVersion, pace: turns });
  const more = work && inTurns(turns, work, call);
  if (more instanceof Promise) return more.then((found) => refuse(kind, object, [...errors, ...found]));
  refuse(kind, object, more && more.length > 0 ? [...errors, ...more] : errors);
  return undefined;
}

/** The same without the metadata and what takes long: for objects that are not stored and need no name. */
export function checkContent(kind: Kind, object: KubeObject, request: Request): void {
  refuse(kind, object, contentErrors(kind, object, request, NONE));
}

function contentErrors(
  kind: Kind,
  object: KubeObject,
  { old, subresource, apiVersion, checked }: Request,
  meta: readonly FieldError[],
): readonly FieldError[] {
  const context: RuleContext<KubeObject, KubeObject> = {
    operation: old ? 'update' : 'create',
    old,
    subresource,
    apiVersion,
    checked,
    parent: undefined,
    root: object,
    oldRoot: old,
  };
  let errors = meta;
  const add = (more: readonly FieldError[]) => {
    if (more.length > 0) errors = [...errors, ...more];
  };
  add(validate(kind.hub.schema, object, context));
  const { rules = NONE } = kind;
  for (let i = 0; i < rules.length; i++) add(rules[i]!(object, context));
  return errors;
}

function refuse(kind: Kind, object: KubeObject, errors: readonly FieldError[]): void {
  if (errors.length === 0) return;
  throw invalidObject({ group: kind.group, kind: kind.kind }, object.metadata.name ?? '', errors);
}

/** The 422 for an object, or a body such as DeleteOptions, that is invalid. */
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

/** Further errors are left out of a response, and longer texts are cut. */
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
