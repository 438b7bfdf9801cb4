/** Objects of any kind that the server has, custom ones included, now and as they were. */

import type { CallOptions } from '../../api/call.ts';
import { type ApiError, isApiError } from '../../api/errors.ts';
import { type HttpsTransport, httpsTransport } from '../../client/transport/http/https-transport.ts';
import { pathOf } from '../../client/transport/http/request-path.ts';
import type { Request } from '../../client/transport/transport.ts';
import type { KubeObject } from '../../kinds/kind.ts';
import { connectionFor } from '../clusters/choice.ts';
import type { ClusterFlags } from '../flags/cluster.ts';
import { withReadyServer } from '../flags/reach/ready-server.ts';
import { CliError } from '../output/cli-error.ts';
import { knownHistory, parsePointInTime, versionAt } from './point-in-time.ts';
import { type Ends, type ObjectEvent, replay } from './replay.ts';

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
  /** The version to read; absent: the newest. */
  readonly version?: string | undefined;
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

  /** The version of a point in time; undefined for the present. */
  async versionAt(at: string | undefined): Promise<string | undefined> {
    if (at === undefined) return undefined;
    const point = parsePointInTime(at);
    if ('resourceVersion' in point) return point.resourceVersion;
    return versionAt(point, await knownHistory((path) => this.transport.read(path)));
  }

  async list(selection: Selection): Promise<readonly KubeObject[]> {
    const { found } = selection;
    const answer = await reachable(() => this.transport.call({ verb: 'list', ...target(selection) }));
    if (answer.type !== 'list') throw new CliError(`the server did not answer with a list of ${found.plural}`);
    return answer.items;
  }

  /** The rows that a list shows to people, its header first. */
  async table(selection: Selection): Promise<string[][]> {
    const path = pathOf({ verb: 'list', ...target(selection) });
    const { columnDefinitions = [], rows = [] } = await reachable(() => this.transport.read(path, TABLE));
    const shown = columnDefinitions.flatMap(({ priority }: { priority: number }, index: number) =>
      priority === 0 ? [index] : [],
    ) as number[];
    const header = shown.map((index) => String(columnDefinitions[index].name).toUpperCase());
    const cells = (row: { cells: unknown[] }) => shown.map((index) => String(row.cells[index] ?? ''));
    return [header, ...rows.map(cells)];
  }

  /** Resolves with the events of one object since a version, oldest first. */
  eventsSince(selection: Selection, since: string, ends: Ends): Promise<readonly ObjectEvent[]> {
    const { options, ...request } = target(selection);
    return replay(ends, (timeoutSeconds) =>
      reachable(() =>
        this.transport.watch({
          verb: 'watch',
          ...request,
          options: {
            ...options,
            resourceVersion: since,
            resourceVersionMatch: undefined,
            timeoutSeconds,
          } as CallOptions,
        }),
      ),
    );
  }

  /** The objects at the beginning of history, and the version of that. */
  async listOldest(selection: Selection): Promise<{ readonly version: string; readonly items: readonly KubeObject[] }> {
    const { revisions } = await knownHistory((path) => this.transport.read(path));
    const version = revisions[0]?.resourceVersion ?? '1';
    try {
      return { version, items: await this.list({ ...selection, version }) };
    } catch (error) {
      // History is limited in bytes, too; the message says from where on it is kept.
      const [, oldest] = /too old resource version: \d+ \((\d+)\)/.exec((error as Error).message) ?? [];
      if (oldest === undefined) throw error;
      return { version: oldest, items: await this.list({ ...selection, version: oldest }) };
    }
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

function target({ found, namespace, name, selector, version }: Selection) {
  return {
    apiVersion: found.apiVersion,
    plural: found.plural,
    namespace: found.namespaced ? namespace : undefined,
    options: {
      fieldSelector: name === undefined ? undefined : `metadata.name=${name}`,
      labelSelector: selector,
      ...(version === undefined ? {} : { resourceVersion: version, resourceVersionMatch: 'Exact' }),
    },
  };
}

function whereOf({ found, namespace }: Selection) {
  return { apiVersion: found.apiVersion, plural: found.plural, namespace: namespace || undefined };
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
    const why = (cause as ApiError).message;
    throw new CliError(`the history of the cluster does not reach that far: ${why}; qd up --history-duration sets it`, {
      cause,
    });
  }
}
