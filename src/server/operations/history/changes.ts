/** The changes of one object, with its states, or of the objects of a list, newest first. */
import { badRequest } from '../../../api/errors.ts';
import type { ObjectChange } from '../../../api/past.ts';
import type { ObjectReply } from '../../../api/reply.ts';
import { ArchiveBegins, type ArchivedChange } from '../../../store/archive/archive.ts';
import { encodedItem } from '../../objects/body/body.ts';
import { prepare } from '../../objects/cache/entry/prepare.ts';
import { keyOf } from '../../objects/cache/keys.ts';
import type { Reader } from '../../objects/ports.ts';
import type { ApiRequest } from '../../objects/registry/registry.ts';
import { type ChangedKind, changeOf } from './change.ts';
import { type ChangePage, type ChangeQuery, readChanges } from './change-page.ts';
import { type MomentPorts, newestRevision, revisionOf } from './moment.ts';
import { pastEntry } from './past-entry.ts';

type Ports = MomentPorts & Pick<Reader, 'turns'>;

/** Number of changes in an answer when the client sets no limit. */
const DEFAULT_LIMIT = 500;

export async function changesOf(core: Ports, request: ApiRequest): Promise<ObjectReply> {
  const { resource, call } = request;
  const { kind } = resource;
  const { namespace = '', name } = call;
  const range = name === undefined ? { prefix: keyOf(kind, namespace, '') } : { key: keyOf(kind, namespace, name) };
  const query = await changeQuery(core, { ...call.past, ...call.options }, call);
  const page = await readChanges(core, range, query);
  const { group, version } = resource.version;
  const changed = { group, version, resource: kind.plural, kind: kind.kind };
  const items =
    name === undefined ? plainItems(page, changed) : await itemsWithStates(core, request, { page, changed });
  return { type: 'object', item: encodedItem(listJson(page, items)) };
}

/** What a client may ask for. */
export interface ChangeOptions {
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  readonly user?: string | undefined;
  readonly status?: boolean | undefined;
  readonly limit?: number | undefined;
  readonly continue?: string | undefined;
}

export async function changeQuery(
  core: MomentPorts,
  options: ChangeOptions,
  waiting: Parameters<typeof revisionOf>[2],
): Promise<ChangeQuery> {
  const { since, until, limit = 0, user, status = true, continue: token } = options;
  const newest = await newestRevision(core);
  if (token !== undefined && token !== '' && !/^[1-9]\d{0,15}$/.test(token)) {
    throw badRequest('invalid continue token: expected the one of the page before');
  }
  const asked = until === undefined ? newest : await revisionOf(core, { name: 'until', text: until }, waiting);
  return {
    after: since === undefined ? undefined : await revisionOf(core, { name: 'since', text: since }, waiting),
    until: token ? Math.min(Number(token) - 1, asked) : asked,
    limit: limit > 0 ? limit : DEFAULT_LIMIT,
    matches: ({ origin }) => (user === undefined || origin?.user === user) && (status || !origin?.isStatus),
    signal: waiting.signal,
  };
}

function plainItems({ changes }: ChangePage, changed: ChangedKind): Buffer[] {
  return changes.map((change) => Buffer.from(JSON.stringify(changeOf(change, changed))));
}

interface Shown {
  readonly page: ChangePage;
  readonly changed: ChangedKind;
}

/** Encodes the changes of one object with the object itself. The bytes of its states are those in the store, spliced. */
async function itemsWithStates(core: Ports, request: ApiRequest, { page, changed }: Shown): Promise<Buffer[]> {
  const items: Buffer[] = [];
  for (const [index, change] of page.changes.entries()) {
    const { value, key, revision } = change;
    const state = value && (await objectJson(core, request, { key, revision, value }));
    const isFollowed = page.changes[index + 1]?.revision === change.replaced;
    const before = change.replaced > 0 && !isFollowed ? await jsonBefore(core, request, change) : undefined;
    items.push(itemJson(changeOf(change, changed), { object: state ?? undefined, before }));
    const pause = core.turns.pause();
    if (pause) await pause;
  }
  return items;
}

async function objectJson(
  core: Ports,
  { resource }: ApiRequest,
  row: Parameters<typeof pastEntry>[1],
): Promise<Buffer> {
  const entry = pastEntry(core.cache, row);
  const preparing = prepare([entry], resource);
  if (preparing) await preparing;
  return entry.view(resource).json();
}

/** Returns the state before a change; undefined when it is older than the archive. */
async function jsonBefore(
  core: Ports,
  request: ApiRequest,
  { key, revision }: ArchivedChange,
): Promise<Buffer | undefined> {
  try {
    const row = await core.archive.get(key, revision - 1);
    return row && (await objectJson(core, request, row));
  } catch (error) {
    if (error instanceof ArchiveBegins) return undefined;
    throw error;
  }
}

function itemJson(change: ObjectChange, states: Readonly<Record<'object' | 'before', Buffer | undefined>>): Buffer {
  const parts: Buffer[] = [Buffer.from(JSON.stringify(change).slice(0, -1))];
  for (const name of ['object', 'before'] as const) {
    const state = states[name];
    if (state) parts.push(Buffer.from(`,"${name}":`), state);
  }
  parts.push(Buffer.from('}'));
  return Buffer.concat(parts);
}

/** Encodes a ChangeList. */
export function listJson({ revision, next }: ChangePage, items: readonly Buffer[]): Buffer {
  const metadata = { resourceVersion: String(revision), continue: next };
  const head = `{"kind":"ChangeList","apiVersion":"v1","metadata":${JSON.stringify(metadata)},"items":[`;
  const parts: Buffer[] = [Buffer.from(head)];
  for (const [index, item] of items.entries()) {
    if (index > 0) parts.push(COMMA);
    parts.push(item);
  }
  parts.push(Buffer.from(']}'));
  return Buffer.concat(parts);
}

const COMMA = Buffer.from(',');
