/** Objects of any kind that the server has, custom ones included, now and as they were. */

import type { CallOptions } from '../../api/call.ts';
import { isApiError } from '../../api/errors.ts';
import { type ChangeList, HISTORY_PATH } from '../../api/past.ts';
import type { UndoAnswer, UndoRequest } from '../../api/undo/undo-set.ts';
import { type HttpsTransport, httpsTransport } from '../../client/transport/http/https-transport.ts';
import { pathOf } from '../../client/transport/http/request-path.ts';
import type { Request } from '../../client/transport/transport.ts';
import type { KubeObject } from '../../kinds/kind.ts';
import { connectionFor } from '../clusters/choice.ts';
import type { ClusterFlags } from '../flags/cluster.ts';
import { withReadyServer } from '../flags/reach/ready-server.ts';
import { CliError } from '../output/cli-error.ts';
import { isBefore, knownHistory, momentOf, parsePointInTime } from './point-in-time.ts';

/** A kind as the server names it. */
export interface FoundKind {
  readonly apiVersion: string;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
  /** How it is shown: `deployment.apps`. */
  readonly label: string;
}

/** Kind, and maybe an object of it, that a user has named. */
export interface Named {
  readonly type: string;
  readonly name: string | undefined;
}

export interface Selection {
  readonly found: FoundKind;
  readonly namespace: string | undefined;
  readonly name?: string | undefined;
  readonly selector?: string | undefined;
  /** The moment to read, as `momentAt` returns it; absent: now. */
  readonly at?: string | undefined;
}

/** Which changes to read. */
export interface ChangeFilter {
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  readonly user?: string | undefined;
  readonly namespace?: string | undefined;
  /** False to leave out changes of nothing but the status. */
  readonly status: boolean;
  readonly limit: number;
  readonly continue?: string | undefined;
}

const DISCOVERY = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';

/** Runs a command with a connection, which is closed afterwards. */
export async function withObjects<T>(flags: ClusterFlags, work: (objects: ObjectApi) => Promise<T>): Promise<T> {
  const transport = httpsTransport({ ...(await withReadyServer(await connectionFor(flags))), userAgent: 'qd-history' });
  try {
    return await work(new ObjectApi(transport));
  } finally {
    transport.close();
  }
}

/** Splits `deploy/web`. */
export function splitName({ type, name }: Named): Named {
  const [kind = '', inType, ...more] = type.split('/');
  if (inType === undefined) return { type, name };
  if (name !== undefined || more.length > 0 || !kind || !inType) {
    throw new CliError(`${type} names no object: write TYPE NAME or TYPE/NAME`);
  }
  return { type: kind, name: inType };
}

export class ObjectApi {
  constructor(private readonly transport: HttpsTransport) {}

  /** Finds a kind by its plural, singular, short name or kind, with the group behind a dot where several have it. */
  async find(type: string): Promise<FoundKind> {
    const wanted = type.toLowerCase();
    for (const path of ['/api', '/apis']) {
      const { items = [] } = await this.transport.read(path, DISCOVERY);
      for (const { metadata, versions } of items) {
        const group: string = metadata?.name ?? '';
        const [newest] = versions ?? [];
        const found = newest?.resources?.find((each: DiscoveredResource) => namesOf(each, group).includes(wanted));
        if (!found) continue;
        const label = `${found.singularResource}${group ? `.${group}` : ''}`;
        return {
          apiVersion: group ? `${group}/${newest.version}` : newest.version,
          plural: found.resource,
          kind: found.responseKind.kind,
          namespaced: found.scope === 'Namespaced',
          label,
        };
      }
    }
    throw new CliError(`the server has no kind that is called ${type}`);
  }

  /** Returns a point in time as requests name it; undefined for the present. */
  async momentAt(at: string | undefined): Promise<string | undefined> {
    if (at === undefined) return undefined;
    return momentOf(parsePointInTime(at), await knownHistory((path) => this.transport.read(path)));
  }

  /** Returns the moment after which changes are read; undefined when the history begins later. */
  async beginning(since: string | undefined): Promise<string | undefined> {
    if (since === undefined) return undefined;
    const [point, known] = [parsePointInTime(since), await knownHistory((path) => this.transport.read(path))];
    if (!isBefore(point, known)) return momentOf(point, known);
    process.stderr.write(`The history of this cluster begins at ${known.oldest.time}.\n`);
    return undefined;
  }

  async list(selection: Selection): Promise<readonly KubeObject[]> {
    if (selection.name !== undefined && selection.at !== undefined) return this.#one(selection, selection.at);
    const items: KubeObject[] = [];
    for (let token = ''; ; ) {
      const { found, at } = selection;
      const options = { limit: at === undefined ? undefined : PAGE_ITEMS, continue: token || undefined };
      const list = await reachable(() => this.transport.read(listPath(selection, options)));
      if (!Array.isArray(list.items)) throw new CliError(`the server did not answer with a list of ${found.plural}`);
      for (const item of list.items) items.push({ ...item, apiVersion: found.apiVersion, kind: found.kind });
      token = list.metadata?.continue ?? '';
      if (!token) return items;
    }
  }

  /** Reads one object of the past, for which the permission to get it is enough. */
  async #one({ found, namespace, name }: Selection, at: string): Promise<readonly KubeObject[]> {
    const path = `${HISTORY_PATH}${pathOf({ verb: 'get', ...whereOf({ found, namespace }), name, query: { at } })}`;
    try {
      return [(await reachable(() => this.transport.read(path))) as KubeObject];
    } catch (error) {
      if (isApiError(error, 'NotFound') && error.details?.name === name) return [];
      throw error;
    }
  }

  /** The rows that a list shows to people, its header first. */
  async table(selection: Selection): Promise<string[][]> {
    const path = listPath(selection);
    const { columnDefinitions = [], rows = [] } = await reachable(() => this.transport.read(path, TABLE));
    const shown = columnDefinitions.flatMap(({ priority }: { priority: number }, index: number) =>
      priority === 0 ? [index] : [],
    ) as number[];
    const header = shown.map((index) => String(columnDefinitions[index].name).toUpperCase());
    const cells = (row: { cells: unknown[] }) => shown.map((index) => String(row.cells[index] ?? ''));
    return [header, ...rows.map(cells)];
  }

  /** Resolves with a page of changes, newest first: of one object, with its states, of the objects of a kind, or of all. */
  async changes(selection: Omit<Selection, 'at'> | undefined, filter: ChangeFilter): Promise<ChangeList> {
    const { namespace, ...others } = filter;
    const query = stringsOf(selection ? others : filter);
    const path = selection
      ? `${HISTORY_PATH}${pathOf({ verb: 'list', ...whereOf(selection), name: selection.name, query })}`
      : `${HISTORY_PATH}/changes?${new URLSearchParams(query)}`;
    return reachable(async () => (await this.transport.read(path)) as ChangeList);
  }

  /** Undoes a set of changes, or plans it. */
  async undoSet(request: UndoRequest): Promise<UndoAnswer> {
    return reachable(async () => (await this.transport.send('create', `${HISTORY_PATH}/undo`, request)) as UndoAnswer);
  }

  /** Deletes history. Resolves with how much it was. */
  async purge(query: Readonly<Record<string, string>>): Promise<{ readonly changes: number; readonly bytes: number }> {
    const path = `${HISTORY_PATH}?${new URLSearchParams(query)}`;
    return reachable(async () => (await this.transport.send('delete', path)) as { changes: number; bytes: number });
  }

  /** Resolves with the object as the server has created it. */
  async create(selection: Selection, body: object, isDryRun: boolean): Promise<KubeObject> {
    return this.#write({ verb: 'create', ...whereOf(selection), body, options: written(isDryRun) });
  }

  /** Resolves with the object as the server has written it. */
  async update(selection: Selection, body: KubeObject, isDryRun: boolean): Promise<KubeObject> {
    const { name = '' } = selection;
    return this.#write({ verb: 'update', ...whereOf(selection), name, body, options: written(isDryRun) });
  }

  async #write(request: Request): Promise<KubeObject> {
    const answer = await this.transport.call(request);
    if (answer.type !== 'object')
      throw new CliError(`the server did not answer with the ${request.plural} that it wrote`);
    return answer.object;
  }
}

interface DiscoveredResource {
  readonly resource: string;
  readonly singularResource: string;
  readonly shortNames?: readonly string[];
  readonly responseKind: { readonly kind: string };
}

function namesOf({ resource, singularResource, shortNames = [], responseKind }: DiscoveredResource, group: string) {
  const qualified = group ? [resource, singularResource].map((name) => `${name}.${group}`) : [];
  return [resource, singularResource, responseKind.kind.toLowerCase(), ...shortNames, ...qualified];
}

/** Number of objects in a page of a past list. */
const PAGE_ITEMS = 500;

/** The path of a list, now or as it was. */
function listPath({ found, namespace, name, selector, at }: Selection, page: CallOptions = {}): string {
  const fieldSelector = name === undefined ? undefined : `metadata.name=${name}`;
  const options = { fieldSelector, labelSelector: selector, ...page } as CallOptions;
  const request = { verb: 'list', ...whereOf({ found, namespace }), options } as const;
  return at === undefined ? pathOf(request) : `${HISTORY_PATH}${pathOf({ ...request, query: { at } })}`;
}

function stringsOf(values: object): Record<string, string> {
  const given = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given.map(([name, value]) => [name, String(value)]));
}

function whereOf({ found, namespace }: Pick<Selection, 'found' | 'namespace'>) {
  return {
    apiVersion: found.apiVersion,
    plural: found.plural,
    namespace: (found.namespaced && namespace) || undefined,
  };
}

const written = (isDryRun: boolean): CallOptions => ({
  fieldManager: 'qd-undo',
  dryRun: isDryRun ? ['All'] : undefined,
});

/** Explains an answer of 410: what was asked for is older than the history. */
async function reachable<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (cause) {
    if (!isApiError(cause, 'Expired', 'Gone')) throw cause;
    const how = 'qd up --history-duration and --history-bytes say how much is kept';
    throw new CliError(`the history of the cluster does not reach that far: ${cause.message}; ${how}`, { cause });
  }
}
