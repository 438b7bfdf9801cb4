/** The changes of one object, with its states, or of the objects of a list, newest first. */
import { badRequest } from '../../../api/errors.ts';
import type { ObjectReply } from '../../../api/reply.ts';
import { ArchiveBegins, type ArchivedChange } from '../../../store/archive/archive.ts';
import type { Row } from '../../../store/store.ts';
import type { SplicedBytes } from '../../objects/cache/entry/encoding.ts';
import { prepare } from '../../objects/cache/entry/prepare.ts';
import { keyOf } from '../../objects/cache/keys.ts';
import { type MaybeAsync, whenReady } from '../../objects/conversion/convert.ts';
import type { Reader } from '../../objects/ports.ts';
import type { ApiRequest } from '../../objects/registry/registry.ts';
import { type ChangedKind, changeOf } from './change.ts';
import { changeListItem, type ListedChange } from './change-list.ts';
import { type ChangePage, type ChangeQuery, readChanges } from './change-page.ts';
import { type MomentPorts, newestRevision, revisionOf } from './moment.ts';
import { pastEntry } from './past-entry.ts';

type Ports = MomentPorts & Pick<Reader, 'turns'>;

/** Number of changes between checks of the clock. */
const STEP = 32;
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
    name === undefined
      ? page.changes.map((change) => ({ change: changeOf(change, changed) }))
      : await changesWithStates(core, request, { page, changed });
  return { type: 'object', item: changeListItem(page, items) };
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

interface Shown {
  readonly page: ChangePage;
  readonly changed: ChangedKind;
}

/** Adds its states to the changes of one object. */
async function changesWithStates(core: Ports, request: ApiRequest, { page, changed }: Shown): Promise<ListedChange[]> {
  const items: ListedChange[] = [];
  for (const [index, change] of page.changes.entries()) {
    const { value, key, revision, replaced } = change;
    const isFollowed = page.changes[index + 1]?.revision === replaced;
    const object = value ? stateOf(core, request, { key, revision, value }) : undefined;
    const before = replaced > 0 && !isFollowed ? stateBefore(core, request, change) : undefined;
    items.push({
      change: changeOf(change, changed),
      object: object instanceof Promise ? await object : object,
      before: before && (await before),
    });
    const pause = index % STEP === 0 ? core.turns.pause() : undefined;
    if (pause) await pause;
  }
  return items;
}

function stateOf(core: Ports, { resource }: ApiRequest, row: Row): MaybeAsync<SplicedBytes> {
  const entry = pastEntry(core.cache, row);
  return whenReady(prepare([entry], resource), () => entry.view(resource).jsonSource());
}

/** Returns the state before a change; undefined when it is older than the archive. */
async function stateBefore(
  core: Ports,
  request: ApiRequest,
  { key, revision }: ArchivedChange,
): Promise<SplicedBytes | undefined> {
  try {
    const row = await core.archive.get(key, revision - 1);
    return row && (await stateOf(core, request, row));
  } catch (error) {
    if (error instanceof ArchiveBegins) return undefined;
    throw error;
  }
}
