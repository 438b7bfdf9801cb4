/** Reads below `/history` at the paths of objects and lists. */
import { badRequest, notFound } from '../../../api/errors.ts';
import type { ListReply, ObjectReply } from '../../../api/reply.ts';
import type { Entry } from '../../objects/cache/entry/entry.ts';
import { prepare } from '../../objects/cache/entry/prepare.ts';
import { keyOf } from '../../objects/cache/keys.ts';
import type { Reader } from '../../objects/ports.ts';
import { decodeToken } from '../../objects/reads/continue-token.ts';
import { isLimited } from '../../objects/reads/list-range.ts';
import { readInTurns, selectionOf } from '../../objects/reads/selection.ts';
import type { ApiRequest } from '../../objects/registry/registry.ts';
import { replyOfPage } from '../verbs/list.ts';
import { changesOf } from './changes.ts';
import { type MomentPorts, revisionOf } from './moment.ts';
import { pastEntry } from './past-entry.ts';

type Ports = MomentPorts & Pick<Reader, 'turns' | 'cache'>;

/** Number of rows that are read from the archive at a time. */
const PAGE_ROWS = 1000;

/** Returns the object or the list as it was; without a time, its changes. */
export function readPast(core: Ports, request: ApiRequest): Promise<ObjectReply | ListReply> {
  const { past, options, verb } = request.call;
  if (options?.resourceVersion) {
    throw badRequest('resourceVersion selects states of the present: name the version with at');
  }
  const at = past?.at;
  if (at === undefined) return changesOf(core, request);
  return verb === 'get' ? pastObject(core, request, at) : pastList(core, request, at);
}

async function pastObject(core: Ports, { resource, call }: ApiRequest, at: string): Promise<ObjectReply> {
  const { kind } = resource;
  const { namespace = '', name = '' } = call;
  const revision = await revisionOf(core, { name: 'at', text: at }, call);
  const row = await core.archive.get(keyOf(kind, namespace, name), revision);
  if (!row) throw notFound(kind, name);
  const entry = pastEntry(core.cache, row);
  const preparing = prepare([entry], resource);
  if (preparing) await preparing;
  return { type: 'object', item: entry.view(resource) };
}

async function pastList(core: Ports, request: ApiRequest, at: string): Promise<ListReply> {
  const { call } = request;
  const { options } = call;
  const token = options?.continue ? decodeToken(options.continue) : undefined;
  const revision =
    token && token.revision > 0 ? token.revision : await revisionOf(core, { name: 'at', text: at }, call);
  const limit = isLimited(options) ? options.limit : Number.POSITIVE_INFINITY;
  const found = await matchingEntries(core, request, { revision, after: token?.after, limit });
  return replyOfPage(core, request, { revision, entries: found.slice(0, limit), more: found.length > limit });
}

interface Start {
  readonly revision: number;
  readonly after: string | undefined;
  /** The number of objects after which one more ends the search. */
  readonly limit: number;
}

async function matchingEntries(
  core: Ports,
  { resource, call }: ApiRequest,
  { revision, after, limit }: Start,
): Promise<readonly Entry[]> {
  const selection = selectionOf(resource, call);
  const prefix = keyOf(resource.kind, call.namespace ?? '', '');
  const found: Entry[] = [];
  for (let last = after; ; ) {
    const options = last === undefined ? { revision, limit: PAGE_ROWS } : { revision, limit: PAGE_ROWS, after: last };
    const { rows, more } = await core.archive.list(prefix, options);
    const entries = rows.map((row) => pastEntry(core.cache, row));
    const preparing = prepare(entries, selection.reads);
    if (preparing) await preparing;
    const reading = readInTurns(core.turns, entries, (entry) => void (selection.matches(entry) && found.push(entry)));
    if (reading) await reading;
    if (!more || found.length > limit) return found;
    last = rows.at(-1)?.key;
    call.signal?.throwIfAborted();
    const pause = core.turns.pause();
    if (pause) await pause;
  }
}
