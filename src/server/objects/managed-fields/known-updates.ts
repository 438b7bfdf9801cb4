/**
 * Caches the effect of writes on the managers of objects. Objects of one template go through the same changes, such as
 * the status of a new pod: the same fields change, of objects with the same managers. The result is then known without
 * comparing any set of fields.
 */
import { BoundedMap } from '../../../base/collections/bounded-map.ts';
import { ChangeSignatures } from '../../../schema/fields/change-signature.ts';
import {
  compareEntries,
  isTracked,
  MAX_UPDATE_MANAGERS,
  type Manager,
  type Managers,
  readManagers,
} from './managers.ts';
import { internSet, type SetTemplate } from './stored/interned-sets.ts';
import { type ManagedFieldsEntry, managedEntry, setOf } from './stored/managed-entry.ts';
import { afterUpdate, type Change, type Updater } from './update.ts';

type Entries = readonly ManagedFieldsEntry[];

/** The resulting managers, which are the same for all writes but for times and identifiers. */
interface UpdatedManagers {
  /** The managers; undefined when they do not change. */
  readonly managers: readonly KnownManager[] | undefined;
}

interface KnownManager extends Omit<Manager, 'fields' | 'time'> {
  /** Index of the previous manager whose time it keeps; undefined for the time of the write. */
  readonly timeOf: number | undefined;
  /** True when it keeps its fields, too. */
  readonly isKept: boolean;
  readonly template: SetTemplate;
  /** Index of the identifier that its set mentions; undefined for none. */
  readonly identifier: number | undefined;
  /** The last entry of the writing manager: many objects are written in one second. */
  last:
    | { readonly time: string; readonly identifier: string | undefined; readonly entry: ManagedFieldsEntry }
    | undefined;
}

const MAX_SIGNATURES_BYTES = 8 * 1024 * 1024;
const MAX_OUTCOMES_BYTES = 8 * 1024 * 1024;
const MANAGER_BYTES = 200;

/** Numbers that identify changes. */
const signatures = new ChangeSignatures<number>(MAX_SIGNATURES_BYTES);
let lastNumber = 0;
const outcomes = new BoundedMap<UpdatedManagers>({
  maxBytes: MAX_OUTCOMES_BYTES,
  bytesOf: ({ managers = [] }) =>
    managers.reduce((sum, { template }) => sum + MANAGER_BYTES + 2 * lengthOf(template), MANAGER_BYTES),
});

const lengthOf = ({ texts }: SetTemplate) => texts.reduce((sum, { length }) => sum + length, 0);

/** Returns `managedFields` after an update: the previous ones if unchanged, undefined when they must be computed. */
export function knownUpdate(change: Change, live: Entries, updater: Updater): Entries | undefined {
  const before = liveManagers(change, live);
  if (!before) return undefined;
  const { version } = change;
  const found = signatures.of(version, change.before.in(version), change.after.in(version));
  if (!found) return undefined;
  const { signature, identifier } = found;
  signature.value ??= ++lastNumber;
  const identifiers = identifier === undefined ? before.identifiers : [...before.identifiers, identifier];
  const { manager, subresource } = updater;
  const key = `${signature.value} ${patternOf(identifiers)} ${subresource} ${manager.length} ${manager}${before.key}`;
  let outcome = outcomes.get(key);
  if (!outcome) {
    if (!isTracked(version, change.after.in(version))) return undefined;
    outcome = outcomeOf(change, live, updater, identifiers);
    if (!outcome) return undefined;
    outcomes.set(key, outcome);
  }
  return outcome.managers ? listed(outcome.managers, { live, identifiers, now: updater.time }) : live;
}

interface LiveManagers {
  /** Identifies the managers without times and identifiers. */
  readonly key: string;
  readonly identifiers: readonly string[];
}

/** Returns the managers; undefined when they own fields in several versions, or are so many that their times matter. */
function liveManagers({ version }: Change, live: Entries): LiveManagers | undefined {
  if (live.length === 0 || live.length >= MAX_UPDATE_MANAGERS) return undefined;
  let key = '';
  let identifiers: readonly string[] = NO_IDENTIFIERS;
  for (const entry of live) {
    const { manager = '', operation, apiVersion, subresource = '' } = entry;
    const set = setOf(entry);
    if (!set || apiVersion !== version.apiVersion || set.identifiers.length > 1) return undefined;
    if (set.identifiers.length > 0) identifiers = [...identifiers, ...set.identifiers];
    key += `,${set.template.id} ${operation} ${subresource} ${manager.length} ${manager}`;
  }
  return { key, identifiers };
}

const NO_IDENTIFIERS: readonly string[] = Object.freeze([]);

/** Returns the pattern of equal identifiers. */
function patternOf(identifiers: readonly string[]): string {
  if (identifiers.length === 0) return '';
  return identifiers.length === 1 ? '0' : identifiers.map((each) => identifiers.indexOf(each)).join();
}

/** Placeholder for the time of the write. */
const NOW = 'now';

/** Computes an outcome; undefined when another write of the same kind may have a different one. */
function outcomeOf(
  change: Change,
  live: Entries,
  updater: Updater,
  identifiers: readonly string[],
): UpdatedManagers | undefined {
  const before = readManagers(live);
  if (!before || before.size !== live.length) return undefined;
  const after = afterUpdate(change, before, { ...updater, time: NOW });
  if (after === before) return { managers: undefined };
  if (after.size === 0) return undefined;
  const managers = [...after].map(([name, each]) => knownManager(name, each, { before, identifiers }));
  return managers.includes(undefined) ? undefined : { managers: managers as KnownManager[] };
}

function knownManager(
  name: string,
  { manager, operation, apiVersion, subresource, time, fields }: Manager,
  { before, identifiers }: { readonly before: Managers; readonly identifiers: readonly string[] },
): KnownManager | undefined {
  const { template, identifiers: own } = internSet(fields);
  const identifier = own.length === 0 ? undefined : identifiers.indexOf(own[0]!);
  if (own.length > 1 || identifier === -1) return undefined;
  const timeOf = time === NOW ? undefined : [...before.keys()].indexOf(name);
  const isKept = before.get(name)?.fields === fields;
  return { manager, operation, apiVersion, subresource, timeOf, isKept, template, identifier, last: undefined };
}

function listed(managers: readonly KnownManager[], write: Write): Entries {
  const entries = managers.map((known) => entryOf(known, write));
  return entries.length > 1 ? entries.sort(compareEntries) : entries;
}

interface Write {
  readonly live: Entries;
  readonly identifiers: readonly string[];
  readonly now: string;
}

function entryOf(known: KnownManager, { live, identifiers, now }: Write): ManagedFieldsEntry {
  const { timeOf, isKept, last } = known;
  const before = timeOf === undefined ? undefined : live[timeOf]!;
  if (before && isKept) return before;
  const identifier = known.identifier === undefined ? undefined : identifiers[known.identifier]!;
  if (!before && last?.time === now && last.identifier === identifier) return last.entry;
  const { manager, operation, apiVersion, subresource, template } = known;
  const set = { template, identifiers: identifier === undefined ? NO_IDENTIFIERS : [identifier] };
  const time = before ? before.time : now;
  const entry = Object.freeze(managedEntry({ manager, operation, apiVersion, subresource, time, set }));
  if (!before) known.last = { time: now, identifier, entry };
  return entry;
}
