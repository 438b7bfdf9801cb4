import { ApiError, qualified } from '../../base/errors.ts';
import type { Kind, KubeObject } from '../../kinds/kind.ts';
import { validateObjectMeta } from '../../kinds/shapes/meta/object-meta-rules.ts';
import { type FieldError, under } from '../../schema/field-error.ts';
import { dnsSubdomain, nameRule } from '../../schema/names.ts';
import type { RuleContext } from '../../schema/schema.ts';
import { validate } from '../../schema/validate.ts';

const anyName = nameRule(dnsSubdomain);
/** Further errors are left out of a response. */
const MAX_ERRORS = 1000;
const NONE: readonly never[] = Object.freeze([]);

interface Request {
  readonly old: KubeObject | undefined;
  readonly subresource: string | undefined;
  readonly apiVersion: string;
  /** A part of the object that is known to be valid by itself. */
  readonly checked?: object | undefined;
}

/** Validates an object that is about to be stored. Throws 422 with everything that is wrong. */
export function checkObject(kind: Kind, object: KubeObject, request: Request): void {
  const { old } = request;
  const meta = validateObjectMeta(object.metadata, {
    operation: old ? 'update' : 'create',
    old: old?.metadata,
    nameRule: kind.name ?? anyName,
    namespaced: kind.scope === 'Namespaced',
  });
  checkContent(kind, object, request, meta.length > 0 ? under('metadata', meta) : NONE);
}

/** The same without the metadata: for objects that are not stored and need no name. */
export function checkContent(
  kind: Kind,
  object: KubeObject,
  request: Request,
  meta: readonly FieldError[] = NONE,
): void {
  const { old, subresource, apiVersion, checked } = request;
  const operation = old ? 'update' : 'create';
  const context: RuleContext<KubeObject, KubeObject> = {
    operation,
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
  if (errors.length === 0) return;
  throw invalidObject({ group: kind.group, kind: kind.kind }, object.metadata.name ?? '', errors);
}

/** The 422 for an object, or a body such as DeleteOptions, that is invalid. */
export function invalidObject(
  what: { group: string; kind: string },
  name: string,
  all: readonly FieldError[],
): ApiError {
  const errors = all.slice(0, MAX_ERRORS);
  const lines = [...new Set(errors.map((each) => `${each.field}: ${each.message}`))];
  const listed = lines.length === 1 ? lines[0] : `[${lines.join(', ')}]`;
  return new ApiError('Invalid', `${qualified(what.group, what.kind)} "${name}" is invalid: ${listed}`, {
    details: {
      ...(name ? { name } : {}),
      ...(what.group ? { group: what.group } : {}),
      ...(what.kind ? { kind: what.kind } : {}),
      causes: errors.map(({ reason, message, field }) => ({ reason, message, field })),
    },
  });
}
