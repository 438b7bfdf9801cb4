import type { Call } from '../../../api/call.ts';
import type { ListReply } from '../../../api/reply.ts';
import { selfLinkOf } from '../../objects/cache/entry/encoding.ts';
import type { Entry } from '../../objects/cache/entry/entry.ts';
import { prepare } from '../../objects/cache/entry/prepare.ts';
import { UnreadableObject, unreadableList } from '../../objects/cache/entry/unreadable.ts';
import type { View } from '../../objects/cache/entry/view.ts';
import type { Reader, Tools } from '../../objects/ports.ts';
import { encodeToken } from '../../objects/reads/continue-token.ts';
import { listJson } from '../../objects/reads/list-bodies.ts';
import { isLimited, type ListRange, listRange, pageOf } from '../../objects/reads/list-range.ts';
import { readInTurns, type Selection } from '../../objects/reads/selection.ts';
import type { ApiRequest, Resource } from '../../objects/registry/registry.ts';
import type { Streams } from '../ports.ts';

type Ports = Pick<Reader, 'cache' | 'turns'> & Pick<Tools, 'clock'> & Pick<Streams, 'lists'>;

/** Lists the matching objects, or a page of them. All pages of one list show the same revision. */
export async function list(core: Ports, request: ApiRequest): Promise<ListReply> {
  try {
    return await listed(core, request);
  } catch (error) {
    if (!(error instanceof UnreadableObject)) throw error;
    const { kind } = request.resource;
    throw unreadableList(kind, core.cache.table(kind).entries(request.call.namespace ?? ''), error);
  }
}

async function listed(core: Ports, request: ApiRequest): Promise<ListReply> {
  const { resource, call } = request;
  const range = await listRange(core, request);
  // Asynchronously converted lists are not cached: they would be outdated when they are ready.
  const isWhole = !isLimited(call.options) && !range.past && range.after === undefined && !resource.kind.conversion;
  return isWhole ? wholeList(core, resource, call, range.selection) : page(core, request, range);
}

/** Returns the complete current state. Its bytes are cached and shared between equal requests. */
async function wholeList(core: Ports, resource: Resource, call: Call, selection: Selection): Promise<ListReply> {
  const namespace = call.namespace ?? '';
  const table = core.cache.table(resource.kind);
  const key = { resource, table, text: `${namespace}\n${selection.text}` };
  const found: View[] = [];
  const find = (entry: Entry) => void (selection.matches(entry) && found.push(entry.view(resource)));
  const finding = core.lists.has(key) ? undefined : readInTurns(core.turns, table.entries(namespace), find);
  if (finding) {
    await finding;
    // Decoded objects are cached in their entries, so the list is built quickly, from their newest state.
    found.length = 0;
    for (const entry of table.entries(namespace)) find(entry);
  }
  const views = core.lists.views(key, () => found);
  const metadata = { selfLink: listLink(resource, call), resourceVersion: String(core.cache.revision) };
  const head = headOf(resource, metadata);
  const encoded = new Map<View, Buffer>();
  return replyOf(core, resource, {
    metadata,
    views,
    encoded,
    isKnown: () => core.lists.hasJson(key, { head, views }),
    json: () => core.lists.json(key, { head, views, encoded }),
    gzip: () => core.lists.gzip(key, { head, views, encoded }),
    protobuf: core.lists.protobuf(key, { head, views }),
  });
}

async function page(core: Ports, request: ApiRequest, range: ListRange): Promise<ListReply> {
  const { revision, entries, left } = await pageOf(core, request, range);
  const { options } = request.call;
  const filtered = Boolean(options?.labelSelector || options?.fieldSelector);
  return replyOfPage(core, request, { revision, entries, more: left > 0, remaining: filtered ? 0 : left });
}

interface FoundPage {
  readonly revision: number;
  readonly entries: readonly Entry[];
  /** True when there are objects after the page. */
  readonly more: boolean;
  /** Their number; 0 when it is unknown. */
  readonly remaining?: number;
}

/** Creates the reply with a page of a list. */
export async function replyOfPage(
  core: Pick<Ports, 'turns'>,
  { resource, call }: Pick<ApiRequest, 'resource' | 'call'>,
  { revision, entries, more, remaining = 0 }: FoundPage,
): Promise<ListReply> {
  const last = entries.at(-1);
  const metadata: ListReply['metadata'] = {
    selfLink: listLink(resource, call),
    resourceVersion: String(revision),
    continue: more && last ? encodeToken({ revision, after: last.at.key }) : undefined,
    remainingItemCount: remaining || undefined,
  };
  const converting = prepare(entries, resource);
  if (converting) await converting;
  const views: View[] = [];
  const viewing = readInTurns(core.turns, entries, (entry) => void views.push(entry.view(resource)));
  if (viewing) await viewing;
  const encoded = new Map<View, Buffer>();
  const json = () => listJson({ head: headOf(resource, metadata), views, encoded });
  return replyOf(core, resource, { metadata, views, encoded, json });
}

interface ListContent extends Pick<ListReply, 'metadata' | 'json'>, Partial<Pick<ListReply, 'gzip' | 'protobuf'>> {
  readonly views: readonly View[];
  /** Encoded objects of the list: the cache may be too small to keep all of them. */
  readonly encoded: Map<View, Buffer>;
  /** Reports whether `json` has been encoded before. */
  readonly isKnown?: () => boolean;
}

function replyOf(core: Pick<Ports, 'turns'>, { kind, version }: Resource, content: ListContent): ListReply {
  const { metadata, views, encoded, isKnown, json, gzip, protobuf } = content;
  return {
    type: 'list',
    kind: kind.listKind,
    apiVersion: version.apiVersion,
    hasTypedItems: kind.hasTypedItems,
    metadata,
    items: views,
    decode: () => readInTurns(core.turns, views, (view) => void view.object),
    encode: () =>
      isKnown?.()
        ? undefined
        : readInTurns(core.turns, views, (view) => void (view.isStored || encoded.set(view, view.json()))),
    readInTurns: (items, read) => readInTurns(core.turns, items, read),
    json,
    gzip,
    protobuf,
  };
}

function headOf({ kind, version }: Resource, metadata: ListReply['metadata']): string {
  return `{"kind":"${kind.listKind}","apiVersion":"${version.apiVersion}","metadata":${JSON.stringify(metadata)},"items":[`;
}

function listLink({ kind, version }: Resource, call: Call): string {
  return selfLinkOf(kind, version, { namespace: call.namespace ?? '' });
}
