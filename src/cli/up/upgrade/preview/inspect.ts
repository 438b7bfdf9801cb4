/** Reads every object of a copied store through the API of the release that serves it. */
import { isApiError } from '../../../../api/errors.ts';
import { groupBy } from '../../../../base/collections/group-by.ts';
import type { ResourceTarget } from '../../../../client/resource.ts';
import type { HttpTransport } from '../../../../client/transport/http/http-transport.ts';
import type { Kind } from '../../../../kinds/kind.ts';
import type { Row } from '../../../../store/store.ts';
import type { OtherVersion, UnreadableObject } from './messages.ts';

const ROOT = '/registry/';
const CUSTOM_KINDS = 'apiextensions.k8s.io/customresourcedefinitions';
const PAGE_OBJECTS = 500;

/** A kind as discovery shows it. */
interface ServedKind extends Omit<ResourceTarget, 'namespaced'> {
  readonly isListed: boolean;
}

export async function servedKinds(transport: Pick<HttpTransport, 'read'>): Promise<readonly ServedKind[]> {
  const { groups } = await transport.read('/apis');
  const versions = ['v1', ...groups.flatMap(versionsOf)];
  const found = await Promise.all(
    versions.map(async (apiVersion) => {
      const { resources = [] } = await transport.read(`${pathOf(apiVersion)}`);
      return resources
        .filter(({ name }: { name: string }) => !name.includes('/'))
        .map(({ name, kind, verbs }: { name: string; kind: string; verbs: readonly string[] }) => {
          return { apiVersion, kind, plural: name, isListed: verbs.includes('list') };
        });
    }),
  );
  return found.flat();
}

/** The preferred version first. */
function versionsOf({ preferredVersion, versions }: any): string[] {
  const names: string[] = versions.map(({ groupVersion }: { groupVersion: string }) => groupVersion);
  return [...new Set([preferredVersion.groupVersion, ...names])];
}

const pathOf = (apiVersion: string) => (apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`);
const groupOf = (apiVersion: string) => (apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '');

/** The table of a key in the store: `apps/deployments`. */
export function tableOf(key: string): string | undefined {
  return key.startsWith(ROOT) ? key.slice(ROOT.length).split('/', 2).join('/') : undefined;
}

/** Lists every kind that has objects, and names the objects that cannot be shown. */
export async function findUnreadable(
  transport: Pick<HttpTransport, 'read'>,
  served: readonly ServedKind[],
  rows: readonly Row[],
): Promise<readonly UnreadableObject[]> {
  const found: UnreadableObject[] = [];
  const tables = groupBy(rows, ({ key }) => tableOf(key));
  for (const [table, stored] of tables) {
    if (table === undefined) continue;
    const kind = served.find((each) => `${groupOf(each.apiVersion) || 'core'}/${each.plural}` === table);
    if (!kind) found.push(...stored.map(({ key }) => ({ key, reason: `this release serves no ${table}` })));
    else if (kind.isListed) found.push(...(await unreadableOf(transport, kind)));
  }
  return found;
}

async function unreadableOf(
  transport: Pick<HttpTransport, 'read'>,
  { apiVersion, plural }: ServedKind,
): Promise<readonly UnreadableObject[]> {
  try {
    for (let token: string | undefined = ''; token !== undefined; ) {
      const query: string = `limit=${PAGE_OBJECTS}${token && `&continue=${encodeURIComponent(token)}`}`;
      const { metadata } = await transport.read(`${pathOf(apiVersion)}/${plural}?${query}`);
      token = metadata?.continue || undefined;
    }
    return [];
  } catch (error) {
    if (!isApiError(error)) throw error;
    const causes = error.details?.causes?.filter(({ field }) => field !== undefined) ?? [];
    if (causes.length > 0) return causes.map(({ field = '', message = '' }) => ({ key: field, reason: message }));
    return [{ key: `${ROOT}${groupOf(apiVersion) || 'core'}/${plural}/`, reason: error.message }];
  }
}

/** Counts the objects that are stored in another version than this release stores. */
export function otherVersions(rows: readonly Row[], builtIn: readonly Kind[]): readonly OtherVersion[] {
  const stored = new Map(builtIn.map(({ group, plural, hub }) => [`${group || 'core'}/${plural}`, hub.apiVersion]));
  for (const row of rows) {
    const { spec } = tableOf(row.key) === CUSTOM_KINDS ? treeIn(row) : {};
    const version = spec?.versions?.find(({ storage }: { storage?: boolean }) => storage === true);
    if (version) stored.set(`${spec.group}/${spec.names?.plural}`, `${spec.group}/${version.name}`);
  }
  const counts = new Map<string, OtherVersion>();
  for (const row of rows) {
    const to = stored.get(tableOf(row.key) ?? '');
    if (to === undefined) continue;
    const { apiVersion: from, kind } = treeIn(row);
    if (typeof from !== 'string' || from === to) continue;
    const id = `${kind} ${from}`;
    counts.set(id, { kind, from, to, count: (counts.get(id)?.count ?? 0) + 1 });
  }
  return [...counts.values()];
}

function treeIn({ value }: Row): any {
  try {
    return JSON.parse(value.toString()) ?? {};
  } catch {
    return {}; // The list of its kind says so.
  }
}
