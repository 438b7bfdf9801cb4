import type { CallOptions } from '../../../api/call.ts';
import type { User } from '../../../api/user.ts';
import { isNamespaceSubresource } from '../../../kinds/groups/core/namespace.ts';
import type { Verb } from '../../../kinds/kind.ts';
import { parseFieldSelector, SelectorError } from '../../../schema/selector/selector.ts';
import { parseRequirements } from '../../../schema/selector/selector-parser.ts';
import type { Attributes, ResourceAttributes, SelectorRequirement } from './authorizer.ts';

interface RouteTarget {
  readonly resource: {
    readonly version: { readonly group: string; readonly version: string };
    readonly kind: { readonly plural: string };
  };
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly subresource: { readonly name: string } | undefined;
}

/** The attributes of a request for objects. Created for every request, so selectors are parsed only on demand. */
export class RequestAttributes implements ResourceAttributes {
  readonly user: User;
  readonly verb: Verb;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly #options: CallOptions;

  constructor({ user, verb }: { readonly user: User; readonly verb: Verb }, route: RouteTarget, options: CallOptions) {
    this.user = user;
    this.verb = verb;
    const { version, kind } = route.resource;
    this.group = version.group;
    this.version = version.version;
    this.resource = kind.plural;
    this.subresource = route.subresource?.name ?? '';
    this.#options = options;
    this.name = route.name ?? (options.fieldSelector === undefined ? '' : nameIn(options.fieldSelector, verb));
    // A Namespace also counts as being in itself: permissions inside it apply to it, too.
    this.namespace = route.namespace ?? (kind.plural === 'namespaces' ? (route.name ?? '') : '');
  }

  get fieldSelector(): readonly SelectorRequirement[] | undefined {
    const { fieldSelector } = this.#options;
    return fieldSelector && selects(this.verb) ? parsedOrUndefined(fieldSelector, fieldRequirements) : undefined;
  }

  get labelSelector(): readonly SelectorRequirement[] | undefined {
    const { labelSelector } = this.#options;
    return labelSelector && selects(this.verb) ? parsedOrUndefined(labelSelector, labelRequirements) : undefined;
  }
}

function selects(verb: string): boolean {
  return verb === 'list' || verb === 'watch' || verb === 'deletecollection';
}

/** Returns the name that a list selects: such a list is a request for that object. */
function nameIn(fieldSelector: string, verb: string): string {
  if (verb !== 'list' && verb !== 'watch') return '';
  const found = parsedOrUndefined(fieldSelector, fieldRequirements)?.find(({ key }) => key === 'metadata.name');
  return found?.operator === 'In' ? (found.values?.[0] ?? '') : '';
}

/** Parses a selector. An invalid one is rejected later; until then it does not restrict the request. */
function parsedOrUndefined(
  text: string,
  parse: (text: string) => readonly SelectorRequirement[],
): readonly SelectorRequirement[] | undefined {
  try {
    return parse(text);
  } catch (error) {
    if (error instanceof SelectorError) return undefined;
    throw error;
  }
}

export function fieldRequirements(text: string): readonly SelectorRequirement[] {
  return parseFieldSelector(text).map(({ field, op, value }) => ({
    key: field,
    operator: op === '=' ? 'In' : 'NotIn',
    values: [value],
  }));
}

/** Omits requirements that a review cannot express, which makes the check stricter, never laxer. */
export function labelRequirements(text: string): readonly SelectorRequirement[] {
  return parseRequirements(text).flatMap(({ key, operator, values }) => {
    switch (operator) {
      case '=':
      case '==':
      case 'in':
        return [{ key, operator: 'In', values }];
      case '!=':
      case 'notin':
        return [{ key, operator: 'NotIn', values }];
      case 'exists':
        return [{ key, operator: 'Exists' }];
      case '!':
        return [{ key, operator: 'DoesNotExist' }];
      case '>':
      case '<':
        return [];
      default:
        return operator satisfies never;
    }
  });
}

const VERBS: Readonly<Record<string, string>> = {
  POST: 'create',
  GET: 'get',
  HEAD: 'get',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};

/** The attributes of a path that names no known object: only authorized users may learn that it does not exist. */
export function attributesOfPath(request: UnknownRequest): Attributes {
  const { user, method, path, parts, watch } = request;
  const [, root = '', ...rest] = parts;
  const head = root === 'api' ? 1 : root === 'apis' ? 2 : 0;
  // A percent-encoded path is authorized in its decoded form.
  const decoded = path.includes('%') ? parts.join('/') : path;
  if (head === 0 || rest.length <= head) return { user, verb: method.toLowerCase(), path: decoded };
  const isWatch = rest[head] === 'watch' && rest.length > head + 1;
  let at = isWatch ? head + 1 : head;
  let namespace = '';
  if (rest[at] === 'namespaces') {
    namespace = rest[at + 1] ?? '';
    if (rest.length > at + 2 && !isNamespaceSubresource(rest[at + 2]!)) at += 2;
  }
  const [resource = '', name = '', subresource = ''] = rest.slice(at);
  const [group, version] = head === 1 ? ['', rest[0] ?? ''] : [rest[0] ?? '', rest[1] ?? ''];
  // HTTP/2 allows any method, including names of properties that every object has.
  const verbOfMethod = Object.hasOwn(VERBS, method) ? VERBS[method]! : '';
  let verb = isWatch ? 'watch' : verbOfMethod;
  if (name === '' && verb === 'get') verb = watch ? 'watch' : 'list';
  if (name === '' && verb === 'delete') verb = 'deletecollection';
  return { user, verb, group, version, resource, subresource: isWatch ? '' : subresource, namespace, name };
}

interface UnknownRequest {
  readonly user: User;
  readonly method: string;
  readonly path: string;
  /** The segments of the path; the first one is empty. */
  readonly parts: readonly string[];
  readonly watch: boolean;
}
