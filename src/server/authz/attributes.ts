/** What a request wants to do, in the words of rights. */
import { isNamespaceSubresource } from '../../kinds/groups/core/namespace.ts';
import type { Verb } from '../../kinds/kind.ts';
import { parseFieldSelector, SelectorError } from '../../schema/selector.ts';
import { parseRequirements } from '../../schema/selector-parser.ts';
import type { CallOptions, User } from '../api.ts';
import type { Attributes, ResourceAttributes, SelectorRequirement } from './authorizer.ts';

/** What a route says of the objects that a request is about. */
interface Named {
  readonly resource: {
    readonly version: { readonly group: string; readonly version: string };
    readonly kind: { readonly plural: string };
  };
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly subresource: { readonly name: string } | undefined;
}

/** A request for objects. Made for every request: it does what can be done without looking closer. */
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

  constructor({ user, verb }: { readonly user: User; readonly verb: Verb }, route: Named, options: CallOptions) {
    this.user = user;
    this.verb = verb;
    const { version, kind } = route.resource;
    this.group = version.group;
    this.version = version.version;
    this.resource = kind.plural;
    this.subresource = route.subresource?.name ?? '';
    this.#options = options;
    this.name = route.name ?? (options.fieldSelector === undefined ? '' : nameIn(options.fieldSelector, verb));
    // A namespace is in itself: who may read everything in it may also read it.
    this.namespace = route.namespace ?? (kind.plural === 'namespaces' ? (route.name ?? '') : '');
  }

  get fieldSelector(): readonly SelectorRequirement[] | undefined {
    const { fieldSelector } = this.#options;
    return fieldSelector && selects(this.verb) ? understood(fieldSelector, fieldRequirements) : undefined;
  }

  get labelSelector(): readonly SelectorRequirement[] | undefined {
    const { labelSelector } = this.#options;
    return labelSelector && selects(this.verb) ? understood(labelSelector, labelRequirements) : undefined;
  }
}

function selects(verb: string): boolean {
  return verb === 'list' || verb === 'watch' || verb === 'deletecollection';
}

/** A list of the one object with a name asks for that object alone. */
function nameIn(fieldSelector: string, verb: string): string {
  if (verb !== 'list' && verb !== 'watch') return '';
  const found = understood(fieldSelector, fieldRequirements)?.find(({ key }) => key === 'metadata.name');
  return found?.operator === 'In' ? (found.values?.[0] ?? '') : '';
}

/** A selector that makes no sense is refused later, and until then it selects nothing in particular. */
function understood(
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

/** Conditions that a review has no words for are left out: then more is asked for than was meant, not less. */
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

/** What a request that leads to no object would be about: whether there is something is not for everybody to know. */
export function attributesOfPath(request: UnknownRequest): Attributes {
  const { user, method, path, parts, watch } = request;
  const [, root = '', ...rest] = parts;
  const head = root === 'api' ? 1 : root === 'apis' ? 2 : 0;
  // Written in another way, a path is still what it leads to.
  const meant = path.includes('%') ? parts.join('/') : path;
  if (head === 0 || rest.length <= head) return { user, verb: method.toLowerCase(), path: meant };
  const isWatch = rest[head] === 'watch' && rest.length > head + 1;
  let at = isWatch ? head + 1 : head;
  let namespace = '';
  if (rest[at] === 'namespaces') {
    namespace = rest[at + 1] ?? '';
    if (rest.length > at + 2 && !isNamespaceSubresource(rest[at + 2]!)) at += 2;
  }
  const [resource = '', name = '', subresource = ''] = rest.slice(at);
  const [group, version] = head === 1 ? ['', rest[0] ?? ''] : [rest[0] ?? '', rest[1] ?? ''];
  let verb = isWatch ? 'watch' : (VERBS[method] ?? '');
  if (name === '' && verb === 'get') verb = watch ? 'watch' : 'list';
  if (name === '' && verb === 'delete') verb = 'deletecollection';
  return { user, verb, group, version, resource, subresource: isWatch ? '' : subresource, namespace, name };
}

interface UnknownRequest {
  readonly user: User;
  readonly method: string;
  readonly path: string;
  /** Of the path, the first being empty. */
  readonly parts: readonly string[];
  readonly watch: boolean;
}
