/** The operations at every path of a resource, independent of the dialect. */
import type { GroupVersionKind } from '../../../api/object-types.ts';
import type { Verb } from '../../../kinds/kind.ts';
import { DeleteOptions } from '../../../kinds/shapes/meta/delete-options.ts';
import { Status } from '../../../kinds/shapes/meta/status.ts';
import type { ServedResource } from '../../objects/registry/registry.ts';
import { type ServedSubresource, takesPath } from '../../objects/registry/served.ts';
import { kindOf } from './definitions.ts';
import { capitalized, definitionName, META, operationInfix, operationTag, SCALARS } from './names.ts';
import {
  DELETE,
  DELETE_COLLECTION,
  FORCE,
  GET,
  LIST,
  NAMESPACE,
  nameParameter,
  PATH,
  type Parameter,
  PRETTY,
  publishedParameters,
  WRITE,
} from './parameters.ts';
import { WatchEvent } from './shapes.ts';

type Method = 'get' | 'put' | 'post' | 'delete' | 'patch' | 'options' | 'head';

export interface Operation {
  readonly method: Method;
  readonly id: string;
  /** The group under which tools show the operation. */
  readonly tag: string;
  readonly description: string;
  /** `x-kubernetes-action` and `x-kubernetes-group-version-kind`; undefined if no objects are involved. */
  readonly action: string | undefined;
  readonly kind: GroupVersionKind | undefined;
  readonly parameters: readonly Parameter[];
  readonly body: { readonly definition: string; readonly required: boolean } | undefined;
  /** The definition of the response; undefined for text. */
  readonly answer: string | undefined;
  /** The code of that response: 405 for an operation that is always rejected. */
  readonly code: 200 | 405;
  readonly consumes: readonly string[];
  readonly produces: readonly string[];
}

export interface Endpoint {
  readonly path: string;
  /** Parameters of all operations. */
  readonly parameters: readonly Parameter[];
  readonly operations: readonly Operation[];
}

const TEXT = ['text/plain'];
const ANYTHING = ['*/*'];
export const OBJECTS = ['application/json', 'application/yaml'];
const LISTS = [...OBJECTS, 'application/json;stream=watch'];
const PATCHES = [
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
];

const METHODS: Readonly<Record<Verb, Method>> = {
  get: 'get',
  list: 'get',
  watch: 'get',
  create: 'post',
  update: 'put',
  patch: 'patch',
  delete: 'delete',
  deletecollection: 'delete',
};

const METADATA = (name: string) => definitionName(META, name);

export function endpointsOf(resource: ServedResource): Endpoint[] {
  return new Paths(resource).all();
}

class Paths {
  readonly #verbs: ReadonlySet<Verb>;
  readonly #namespaced: boolean;
  readonly #infix: string;

  constructor(private readonly resource: ServedResource) {
    this.#verbs = new Set(resource.verbs);
    this.#namespaced = resource.kind.scope === 'Namespaced';
    this.#infix = operationInfix(resource.version.apiVersion);
  }

  all(): Endpoint[] {
    const { kind, plural } = this.resource.kind;
    const root = rootOf(this.resource.version.apiVersion);
    const inside = this.#namespaced ? `/namespaces/{namespace}/${plural}` : `/${plural}`;
    const scope = this.#namespaced ? [NAMESPACE] : [];
    const one = [nameParameter(kind), ...scope];
    const everywhere = this.#namespaced && this.#verbs.has('list');
    const endpoints: Endpoint[] = [
      { path: root + inside, parameters: scope, operations: this.#collection() },
      { path: `${root}${inside}/{name}`, parameters: one, operations: this.#object() },
      { path: `${root}/${plural}`, parameters: [], operations: everywhere ? [this.#list('ForAllNamespaces')] : [] },
      ...this.#watches(root, inside),
    ];
    for (const subresource of this.resource.subresources.values()) {
      const path = `${root}${inside}/{name}/${subresource.name}`;
      endpoints.push({ path, parameters: one, operations: this.#subresource(subresource) });
      if (!takesPath(subresource)) continue;
      const parameters = [...one, PATH];
      endpoints.push({ path: `${path}/{path}`, parameters, operations: this.#subresource(subresource, 'WithPath') });
    }
    return endpoints
      .filter(({ operations }) => operations.length > 0)
      .map((endpoint) => ({ ...endpoint, parameters: [...endpoint.parameters, PRETTY] }));
  }

  #watches(root: string, inside: string): Endpoint[] {
    if (!this.#verbs.has('watch')) return [];
    const { kind, plural } = this.resource.kind;
    const scope = this.#namespaced ? [NAMESPACE] : [];
    const word = this.#scoped();
    const endpoints = [
      { path: `${root}/watch${inside}`, parameters: scope, operations: [this.#watch(`${word}List`, 'watchlist')] },
      {
        path: `${root}/watch${inside}/{name}`,
        parameters: [nameParameter(kind), ...scope],
        operations: [this.#watch(word, 'watch')],
      },
    ];
    if (!this.#namespaced) return endpoints;
    const all = [this.#watch(`${kind}ListForAllNamespaces`, 'watchlist')];
    return [...endpoints, { path: `${root}/watch/${plural}`, parameters: [], operations: all }];
  }

  #collection(): Operation[] {
    const operations: Operation[] = [];
    if (this.#verbs.has('list')) operations.push(this.#list(''));
    if (this.#verbs.has('create')) operations.push(this.#written('create', 'create'));
    if (this.#verbs.has('deletecollection')) {
      operations.push({
        ...this.#operation('deletecollection', `delete${this.#infix}Collection${this.#scoped()}`),
        description: `delete objects of kind ${this.resource.kind.kind}`,
        parameters: DELETE_COLLECTION,
        body: { definition: METADATA(DeleteOptions.name), required: false },
        answer: METADATA(Status.name),
      });
    }
    return operations;
  }

  #object(): Operation[] {
    const operations: Operation[] = [];
    if (this.#verbs.has('get')) {
      operations.push({ ...this.#operation('get', `read${this.#infix}${this.#scoped()}`), parameters: GET });
    }
    if (this.#verbs.has('update')) operations.push(this.#written('update', 'replace'));
    if (this.#verbs.has('patch')) operations.push(this.#written('patch', 'patch'));
    else if (this.#verbs.has('create')) operations.push(this.#rejectedPatch());
    if (this.#verbs.has('delete')) {
      operations.push({
        ...this.#operation('delete', `delete${this.#infix}${this.#scoped()}`),
        parameters: DELETE,
        body: { definition: METADATA(DeleteOptions.name), required: false },
        answer: METADATA(Status.name),
      });
    }
    return operations;
  }

  /**
   * Returns the patch operation of a kind that can only be created, such as a review. kubectl reads the parameters of a
   * kind's writes from its patch; without one it treats the kind as a custom one and fails where none are served.
   */
  #rejectedPatch(): Operation {
    const operation = this.#written('patch', 'patch');
    const description = `always rejected: objects of kind ${this.resource.kind.kind} are not stored`;
    return { ...operation, description, answer: METADATA(Status.name), code: 405 };
  }

  #list(suffix: string): Operation {
    const { kind } = this.resource.kind;
    const word = suffix ? kind + suffix : this.#scoped();
    return {
      ...this.#operation('list', `list${this.#infix}${word}`),
      description: `list or watch objects of kind ${kind}`,
      parameters: LIST,
      answer: definitionName(this.resource.version.apiVersion, this.resource.kind.listKind),
      produces: LISTS,
    };
  }

  #watch(word: string, action: string): Operation {
    return {
      ...this.#operation('watch', `watch${this.#infix}${word}`),
      action,
      description: `watch objects of kind ${this.resource.kind.kind}; a list with watch=true does the same`,
      parameters: LIST,
      answer: METADATA(WatchEvent.name),
      produces: LISTS,
    };
  }

  /** Returns an operation with the object in its body. */
  #written(verb: Verb, word: string): Operation {
    return this.#withBody(this.#operation(verb, `${word}${this.#infix}${this.#scoped()}`), verb);
  }

  #withBody(operation: Operation, verb: Verb): Operation {
    const patch = verb === 'patch';
    return {
      ...operation,
      parameters: [...operation.parameters, ...WRITE, ...(patch ? [FORCE] : [])],
      body: { definition: patch ? SCALARS.patch : operation.answer!, required: true },
      consumes: patch ? PATCHES : ANYTHING,
    };
  }

  #subresource(subresource: ServedSubresource, suffix = ''): Operation[] {
    const operations = subresource.verbs.map((verb) => this.#subresourceOperation(verb, subresource, suffix));
    // Proxies also have these methods, which require only the permission to get.
    const others = takesPath(subresource) ? (['options', 'head'] as const) : [];
    return [...operations, ...others.map((method) => this.#subresourceOperation('get', subresource, suffix, method))];
  }

  #subresourceOperation(
    verb: Verb,
    subresource: ServedSubresource,
    suffix: string,
    method: Method = METHODS[verb],
  ): Operation {
    const { name, descriptor, body } = subresource;
    const { kind } = this.resource.kind;
    const word = this.#scoped() + capitalized(name) + suffix;
    const parameters = publishedParameters(descriptor.parameters);
    const named = kindOf(body.apiVersion, body.kind);
    const own = { ...this.#operation(verb, VERBS[verb] + this.#infix + word), kind: named, parameters };
    const description = `${WORDS[verb]} ${name} of the specified ${kind}`;
    switch (descriptor.content.type) {
      case 'connection': {
        const id = `connect${this.#infix}${capitalized(method)}${word}`;
        const streams = { answer: undefined, consumes: ANYTHING, produces: ANYTHING };
        return { ...own, ...streams, method, id, action: 'connect', description: `connect to the ${kind}` };
      }
      case 'text':
        return { ...own, description, answer: undefined, produces: TEXT };
      case 'object':
      case 'body': {
        const answer = body.schema ? definitionName(body.apiVersion, body.kind) : undefined;
        const operation = { ...own, description, answer };
        return verb === 'get' ? operation : this.#withBody(operation, verb);
      }
    }
  }

  #operation(verb: Verb, id: string): Operation {
    const { kind, version } = this.resource;
    return {
      method: METHODS[verb],
      id,
      tag: operationTag(version.apiVersion),
      action: verb === 'list' || verb === 'deletecollection' ? verb : METHODS[verb],
      description: `${WORDS[verb]} ${verb === 'create' ? 'a' : 'the specified'} ${kind.kind}`,
      kind: kindOf(version.apiVersion, kind.kind),
      parameters: [],
      body: undefined,
      answer: definitionName(version.apiVersion, kind.kind),
      code: 200,
      consumes: ANYTHING,
      produces: OBJECTS,
    };
  }

  /** Returns the kind as part of operation IDs. */
  #scoped(): string {
    return this.#namespaced ? `Namespaced${this.resource.kind.kind}` : this.resource.kind.kind;
  }
}

/** The first words of descriptions. */
const WORDS: Readonly<Record<Verb, string>> = {
  get: 'read',
  list: 'list',
  watch: 'watch',
  create: 'create',
  update: 'replace',
  patch: 'partially update',
  delete: 'delete',
  deletecollection: 'delete',
};

/** The first words of operation IDs. */
const VERBS: Readonly<Record<Verb, string>> = { ...WORDS, patch: 'patch' };

/** Returns the path of a group and version. */
export function rootOf(apiVersion: string): string {
  return apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
}
