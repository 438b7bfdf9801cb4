import type { Call } from '../../../api/call.ts';
import { ApiError, badRequest, isApiError } from '../../../api/errors.ts';
import { type FieldError, forbidden, notSupported } from '../../../schema/field-error.ts';
import { invalidObject } from '../body/check.ts';
import type { Entry } from '../cache/entry/entry.ts';
import { prepare } from '../cache/entry/prepare.ts';
import type { Reader, Tools } from '../ports.ts';
import type { ApiRequest, Resource } from '../registry/registry.ts';
import { type ContinueToken, decodeToken, encodeToken } from './continue-token.ts';
import { parseRevision, waitForRevision } from './freshness.ts';
import { readInTurns, type Selection, selectionOf } from './selection.ts';

type Ports = Pick<Reader, 'cache' | 'turns'> & Pick<Tools, 'clock'>;

/** The range that the options of a list or a delete-collection select. */
export interface ListRange {
  readonly selection: Selection;
  /** The key of the last object of the previous page; undefined to start from the beginning. */
  readonly after: string | undefined;
  /** A past state; undefined for the newest one. */
  readonly past: ListState | undefined;
}

/** The objects of a namespace, or of all, at a revision. */
interface ListState {
  readonly revision: number;
  readonly entries: readonly Entry[];
}

/** The objects of a range, up to the limit of the call. */
export interface ListPage {
  readonly revision: number;
  readonly entries: readonly Entry[];
  /** Number of matching objects after the page. */
  readonly left: number;
}

/** Checks the options, and waits until the cache contains the requested state. */
export async function listRange(core: Ports, { resource, call }: ApiRequest): Promise<ListRange> {
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
  const past = exact === undefined ? undefined : await stateAt(core, resource, call, { revision: exact, token });
  return { selection, after: token?.after, past };
}

export async function pageOf(core: Ports, { resource, call }: ApiRequest, range: ListRange): Promise<ListPage> {
  const { after, selection } = range;
  const { revision, entries } = range.past ?? newestState(core, resource, call);
  const rest = after === undefined ? entries : entries.filter((entry) => entry.at.key > after);
  const preparing = prepare(rest, selection.reads);
  if (preparing) await preparing;
  const matching: Entry[] = [];
  const reading = readInTurns(core.turns, rest, (entry) => void (selection.matches(entry) && matching.push(entry)));
  if (reading) await reading;
  const shown = isLimited(call.options) ? matching.slice(0, call.options.limit) : matching;
  return { revision, entries: shown, left: matching.length - shown.length };
}

/** Reports whether the list is limited; zero and negative limits mean no limit. */
export function isLimited(options: Call['options']): options is { limit: number } {
  return (options?.limit ?? 0) > 0;
}

function newestState(core: Ports, { kind }: Resource, call: Call): ListState {
  return { revision: core.cache.revision, entries: core.cache.table(kind).entries(call.namespace ?? '') };
}

async function stateAt(
  core: Ports,
  resource: Resource,
  call: Call,
  { revision, token }: { readonly revision: number; readonly token: ContinueToken | undefined },
): Promise<ListState> {
  if (revision > core.cache.revision) await waitForRevision(core, revision, call);
  try {
    await core.cache.remember(revision);
  } catch (error) {
    if (isApiError(error, 'Expired')) throw expired(token, error);
    throw error;
  }
  return { revision, entries: core.cache.table(resource.kind).entriesAt(revision, call.namespace ?? '') };
}

function expired(token: ContinueToken | undefined, cause: unknown): ApiError {
  if (!token) return new ApiError('Expired', 'The resourceVersion for the provided list is too old.', { cause });
  return new ApiError(
    'Expired',
    'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.',
    { cause, metadata: { continue: encodeToken({ revision: -1, after: token.after }) } },
  );
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
