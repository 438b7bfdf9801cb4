import { ApiError, badRequest, isApiError } from '../../base/errors.ts';
import { type FieldError, forbidden, notSupported } from '../../schema/field-error.ts';
import type { Call, ListReply } from '../api.ts';
import type { ApiRequest } from '../api-request.ts';
import { selfLinkOf } from '../cache/encoding.ts';
import type { Entry } from '../cache/entry.ts';
import { UnreadableObject, unreadableList } from '../cache/unreadable.ts';
import type { View } from '../cache/view.ts';
import { prepare, prepareHubs } from '../conversion/prepare.ts';
import type { Core } from '../core.ts';
import { invalidObject } from '../objects/check.ts';
import { type ContinueToken, decodeToken, encodeToken } from '../reads/continue-token.ts';
import { parseRevision, waitForRevision } from '../reads/freshness.ts';
import { listJson } from '../reads/list-bodies.ts';
import { type Selection, selectionOf } from '../reads/selection.ts';
import type { Resource } from '../registry.ts';

/** Lists the objects that match, or a page of them. All pages of one list show the same revision. */
export async function list(core: Core, request: ApiRequest): Promise<ListReply> {
  try {
    return await listed(core, request);
  } catch (error) {
    if (!(error instanceof UnreadableObject)) throw error;
    const { kind } = request.resource;
    throw unreadableList(kind, core.cache.table(kind).entries(request.call.namespace ?? ''), error);
  }
}

async function listed(core: Core, { resource, call }: ApiRequest): Promise<ListReply> {
  checkOptions(call);
  const selection = selectionOf(resource, call);
  const { options = {} } = call;
  const token = options.continue ? decodeToken(options.continue) : undefined;
  const asked = parseRevision(options.resourceVersion);
  if (token && asked) throw badRequest('specifying resource version is not allowed when using continue');
  const exact =
    token && token.revision > 0 ? token.revision : options.resourceVersionMatch === 'Exact' ? asked : undefined;
  if (exact === undefined && !token && asked !== undefined) {
    if (asked > 0) await waitForRevision(core, asked, call);
  } else {
    const wait = core.cache.fresh();
    if (wait) await wait;
  }
  if (exact !== undefined) return exactList(core, resource, call, { revision: exact, token, selection });
  // What is converted asynchronously is not kept as a whole: it would be out of date when it is ready.
  const isWhole = !isLimited(options) && !token && !resource.kind.conversion;
  if (isWhole) return wholeList(core, resource, call, selection);
  const entries = core.cache.table(resource.kind).entries(call.namespace ?? '');
  return page(resource, call, { entries, revision: core.cache.revision, after: token?.after, selection });
}

/** The current state, all of it. Its bytes are cached and shared between equal requests. */
function wholeList(core: Core, resource: Resource, call: Call, selection: Selection): ListReply {
  const namespace = call.namespace ?? '';
  const table = core.cache.table(resource.kind);
  const key = { resource, table, text: `${namespace}\n${selection.text}` };
  const views = core.lists.views(key, () =>
    table
      .entries(namespace)
      .filter(selection.matches)
      .map((entry) => entry.view(resource)),
  );
  const metadata = { selfLink: listLink(resource, call), resourceVersion: String(core.cache.revision) };
  const head = headOf(resource, metadata);
  return {
    ...shape(resource, metadata, views),
    json: () => core.lists.json(key, { head, views }),
    gzip: () => core.lists.gzip(key, { head, views }),
  };
}

/** The state at a past revision. */
async function exactList(
  core: Core,
  resource: Resource,
  call: Call,
  at: { revision: number; token: ContinueToken | undefined; selection: Selection },
): Promise<ListReply> {
  if (at.revision > core.cache.revision) await waitForRevision(core, at.revision, call);
  try {
    await core.cache.remember(at.revision);
  } catch (error) {
    if (isApiError(error, 'Expired')) throw expired(at.token, error);
    throw error;
  }
  const entries = core.cache.table(resource.kind).entriesAt(at.revision, call.namespace ?? '');
  return page(resource, call, { entries, revision: at.revision, after: at.token?.after, selection: at.selection });
}

function expired(token: ContinueToken | undefined, cause: unknown): ApiError {
  if (!token) return new ApiError('Expired', 'The resourceVersion for the provided list is too old.', { cause });
  return new ApiError(
    'Expired',
    'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.',
    { cause, metadata: { continue: encodeToken({ revision: -1, after: token.after }) } },
  );
}

async function page(
  resource: Resource,
  call: Call,
  from: { entries: readonly Entry[]; revision: number; after: string | undefined; selection: Selection },
): Promise<ListReply> {
  const { after, selection, revision } = from;
  const rest = after === undefined ? from.entries : from.entries.filter((entry) => entry.at.key > after);
  const preparing = prepareHubs(rest, resource);
  if (preparing) await preparing;
  const matching = rest.filter(selection.matches);
  const shown = isLimited(call.options) ? matching.slice(0, call.options.limit) : matching;
  const left = matching.length - shown.length;
  const last = shown.at(-1);
  const filtered = Boolean(call.options?.labelSelector || call.options?.fieldSelector);
  const metadata: ListReply['metadata'] = {
    selfLink: listLink(resource, call),
    resourceVersion: String(revision),
    ...(left > 0 && last ? { continue: encodeToken({ revision, after: last.at.key }) } : {}),
    ...(left > 0 && !filtered ? { remainingItemCount: left } : {}),
  };
  const converting = prepare(shown, resource);
  if (converting) await converting;
  const views = shown.map((entry) => entry.view(resource));
  const json = () => listJson(headOf(resource, metadata), views);
  return { ...shape(resource, metadata, views), json, gzip: undefined };
}

/** Zero and negative limits mean no limit. */
function isLimited(options: Call['options']): options is { limit: number } {
  return (options?.limit ?? 0) > 0;
}

function shape(resource: Resource, metadata: ListReply['metadata'], items: readonly View[]) {
  const { kind, version } = resource;
  return { type: 'list', kind: kind.listKind, apiVersion: version.apiVersion, metadata, items } as const;
}

function headOf({ kind, version }: Resource, metadata: ListReply['metadata']): string {
  return `{"kind":"${kind.listKind}","apiVersion":"${version.apiVersion}","metadata":${JSON.stringify(metadata)},"items":[`;
}

function listLink({ kind, version }: Resource, call: Call): string {
  return selfLinkOf(kind, version, { namespace: call.namespace ?? '' });
}

function checkOptions({ options = {} }: Call): void {
  const { resourceVersionMatch: match, resourceVersion, sendInitialEvents } = options;
  const errors: FieldError[] = [];
  const forbid = (why: string) => errors.push(forbidden('resourceVersionMatch', why));
  if (match) {
    if (!resourceVersion) forbid('resourceVersionMatch is forbidden unless resourceVersion is provided');
    if (options.continue) forbid('resourceVersionMatch is forbidden when continue is provided');
    if (match !== 'Exact' && match !== 'NotOlderThan') {
      errors.push(notSupported('resourceVersionMatch', match, ['Exact', 'NotOlderThan', '']));
    }
    if (match === 'Exact' && resourceVersion === '0') {
      forbid('resourceVersionMatch "exact" is forbidden for resourceVersion "0"');
    }
  }
  if (sendInitialEvents !== undefined)
    errors.push(forbidden('sendInitialEvents', 'sendInitialEvents is forbidden for list'));
  if (errors.length > 0) throw invalidObject({ group: 'meta.k8s.io', kind: 'ListOptions' }, '', errors);
}
