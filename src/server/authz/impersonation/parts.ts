/** What of the other has to be asked about, and what of him is too much for a constrained way. */
import type { ApiError } from '../../../base/errors.ts';
import { domainPrefixedPath } from '../../../schema/names.ts';
import type { User } from '../../api.ts';
import type { ResourceAttributes } from '../authorizer.ts';
import { refusal } from '../forbidden.ts';
import { type Mode, onAnyNode } from './modes.ts';
import { accountOf, nodeOf, type Wanted } from './wanted.ts';

/** One of these must be allowed: the first, which stands for many, or else each of `all`. */
export interface Part {
  readonly any?: ResourceAttributes;
  readonly all: readonly ResourceAttributes[];
  /** Why it cannot be, whoever asks. */
  readonly refused?: ApiError;
}

const IDENTITY = 'authentication.k8s.io';
const MASTERS = 'system:masters';
/** From so many on, the right to all of them is asked for first. */
const MANY = 4;

export function partsOf(sender: User, wanted: Wanted, mode: Mode): Part[] {
  const asked = (resource: string, name: string, more: Partial<ResourceAttributes> = {}): ResourceAttributes => ({
    ...{ user: mode.name === 'associated-node' ? onAnyNode(sender) : sender, verb: mode.verb },
    ...{ group: mode.isConstrained ? IDENTITY : '', version: 'v1', resource, subresource: '', namespace: '', name },
    ...more,
  });
  const { uid, groups, extra } = wanted;
  return [
    { all: [whoIs(wanted, mode, asked)] },
    ...(uid ? [{ all: [asked('uids', uid, { group: IDENTITY })] }] : []),
    ...(groups.length > 0 ? [groupsPart(groups, mode, asked)] : []),
    ...(Object.keys(extra).length > 0 ? [extraPart(extra, mode, asked)] : []),
  ];
}

type Asked = (resource: string, name: string, more?: Partial<ResourceAttributes>) => ResourceAttributes;

function whoIs({ name }: Wanted, mode: Mode, asked: Asked): ResourceAttributes {
  const account = accountOf(name);
  if (account) return asked('serviceaccounts', account.name, { namespace: account.namespace });
  const node = mode.isConstrained ? nodeOf(name) : undefined;
  if (node === undefined) return asked('users', name);
  return asked('nodes', mode.name === 'associated-node' ? '*' : node);
}

function groupsPart(groups: readonly string[], { isConstrained }: Mode, asked: Asked): Part {
  const all = groups.map((group) => asked('groups', group));
  if (!isConstrained) return { all };
  if (groups.includes('')) {
    return { all, refused: refusal(asked('groups', ''), 'impersonating the empty string group is not allowed') };
  }
  if (groups.includes(MASTERS)) {
    return { all, refused: refusal(asked('groups', MASTERS), `impersonating the ${MASTERS} group is not allowed`) };
  }
  return groups.length >= MANY ? { any: asked('groups', '*'), all } : { all };
}

function extraPart(extra: Wanted['extra'], { isConstrained }: Mode, asked: Asked): Part {
  const keys = Object.keys(extra);
  const value = (key: string, name: string) => asked('userextras', name, { group: IDENTITY, subresource: key });
  const all = keys.flatMap((key) => (extra[key] ?? []).map((name) => value(key, name)));
  if (!isConstrained) return { all };
  const problem = keys.map((key) => problemWith(key, extra[key] ?? [])).find((found) => found !== undefined);
  if (problem !== undefined) {
    return { all, refused: refusal(asked('userextras', '', { group: IDENTITY }), problem) };
  }
  return keys.length >= MANY || all.length >= MANY ? { any: value('*', '*'), all } : { all };
}

function problemWith(key: string, values: readonly string[]): string | undefined {
  const not = (what: string) => `impersonating ${what} is not allowed`;
  if (key === '') return not('the empty string key in extra');
  const complaints = domainPrefixedPath(key).map(
    (words) => `extra.key: Invalid value: ${JSON.stringify(key)}: ${words}`,
  );
  if (complaints.length > 0) {
    const all = complaints.length === 1 ? complaints[0] : `[${complaints.join(', ')}]`;
    return `${not('an invalid key in extra')}: ${all}`;
  }
  if (key !== key.toLowerCase()) return `${not('a non-lowercase key in extra')}: ${JSON.stringify(key)}`;
  if (values.length === 0) return not('empty values in extra');
  return values.includes('') ? not('the empty string value in extra') : undefined;
}
