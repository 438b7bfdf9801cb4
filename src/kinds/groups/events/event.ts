/**
 * The version events.k8s.io/v1 of core Events: it renames fields, and its clients must use the newer form with eventTime
 * and series.
 */
import { addAll } from '../../../base/collections/add-all.ts';
import { deepEqual, type Tree } from '../../../base/json/tree.ts';
import { s } from '../../../schema/builders.ts';
import { type FieldError, invalid, required } from '../../../schema/field-error.ts';
import { dnsSubdomain } from '../../../schema/names.ts';
import type { KubeObject, VersionDefinition } from '../../kind.ts';
import { ObjectReference } from '../../shapes/meta/references.ts';

export const NEWER_VERSION = 'events.k8s.io/v1';

/** Field names in the stored version and in this one. */
const RENAMED_FIELDS = [
  ['involvedObject', 'regarding'],
  ['message', 'note'],
  ['source', 'deprecatedSource'],
  ['firstTimestamp', 'deprecatedFirstTimestamp'],
  ['lastTimestamp', 'deprecatedLastTimestamp'],
  ['count', 'deprecatedCount'],
  ['reportingComponent', 'reportingController'],
] as const;

/** Fields that are always present in the stored version, but omitted here when empty. */
const OMITTED_IF_EMPTY = ['reportingController', 'reportingInstance'];

export const EventSource = s.object('EventSource', 'The component that reported an event.', {
  component: s.string('Name of the component that reported the event, such as kubelet.', { omitZero: true }),
  host: s.string('Name of the node the event was reported from.', { omitZero: true }),
});

/** The part of an Event in the stored version that this version has rules for. */
export interface StoredEvent extends KubeObject {
  involvedObject: ObjectReference;
  reason?: string;
  message?: string;
  source: { component?: string; host?: string };
  firstTimestamp?: string;
  lastTimestamp?: string;
  count?: number;
  type?: string;
  eventTime?: string;
  series?: { count?: number; lastObservedTime?: string };
  action?: string;
  related?: ObjectReference;
  reportingComponent: string;
  reportingInstance: string;
}

type Selectable<T> = NonNullable<VersionDefinition<T>['selectable']>;

/** Defines the version; `selectable` are the field selectors of the stored version. */
export function newerVersion<T>(selectable: Selectable<T>): VersionDefinition<T> {
  return {
    omits: RENAMED_FIELDS.map(([stored]) => stored),
    fields: {
      eventTime: s.microTime('When the event was first observed, with microseconds. Required.', { zero: true }),
      series: s.object('EventSeries', 'Set when the event has occurred more than once: how often, and when last.', {
        count: s.int32('Number of occurrences so far. At least 2.', { zero: true }),
        lastObservedTime: s.microTime('When the event was last observed.', { zero: true }),
      }),
      reportingController: s.string(
        'Name of the controller that reported the event, such as kubernetes.io/kubelet. Required; cannot be changed.',
        { omitZero: true },
      ),
      reportingInstance: s.string(
        'Identifies the instance of the controller, such as kubelet-xyzf. Required, at most 128 characters; cannot be changed.',
        { omitZero: true },
      ),
      regarding: s.use(ObjectReference, 'The object the event is about. Cannot be changed.', { default: {} }),
      note: s.string('Description of what happened, for people. At most 1024 characters; cannot be changed.', {
        omitZero: true,
      }),
      deprecatedSource: s.use(
        EventSource,
        'The reporting component, as core/v1 clients write it. Must not be set in this version; see reportingController.',
        { default: {} },
      ),
      deprecatedFirstTimestamp: s.time(
        'When the event was first observed, as core/v1 clients write it. Must not be set in this version; see eventTime.',
      ),
      deprecatedLastTimestamp: s.time(
        'When the event was last observed, as core/v1 clients write it. Must not be set in this version; see series.',
      ),
      deprecatedCount: s.int32(
        'Number of occurrences, as core/v1 clients write it. Must not be set in this version; see series.',
        { omitZero: true },
      ),
    },
    toHub,
    fromHub,
    selectable: renamedSelectors(selectable),
  };
}

type Series = NonNullable<StoredEvent['series']>;

/** An Event on its way from one version to the other. */
type Converted = KubeObject & Tree & { series?: Series };

function toHub(event: KubeObject): KubeObject {
  const out: Converted = { ...event };
  for (const field of OMITTED_IF_EMPTY) out[field] ??= '';
  for (const [stored, newer] of RENAMED_FIELDS) move(out, newer, stored);
  if (out.series) out.series = withCount(out.series, out.series.count || undefined);
  return out;
}

function fromHub(event: KubeObject): KubeObject {
  const out: Converted = { ...event };
  for (const [stored, newer] of RENAMED_FIELDS) move(out, stored, newer);
  for (const field of OMITTED_IF_EMPTY) if (!out[field]) delete out[field];
  if (out.series) out.series = withCount(out.series, out.series.count ?? 0);
  return out;
}

function move(object: Tree, from: string, to: string): void {
  if (object[from] !== undefined) object[to] = object[from];
  delete object[from];
}

function withCount({ count: _, ...series }: Series, count: number | undefined): Series {
  return count === undefined ? series : { ...series, count };
}

/** Renames selectors. This version has no field selector `source`. */
function renamedSelectors<T>({ source: _, ...selectable }: Selectable<T>): Selectable<T> {
  const renamed = (field: string) => {
    const [first = '', ...rest] = field.split('.');
    return [RENAMED_FIELDS.find(([stored]) => stored === first)?.[1] ?? first, ...rest].join('.');
  };
  return Object.fromEntries(Object.entries(selectable).map(([field, read]) => [renamed(field), read]));
}

const OLDER_FORM_FIELDS = ['firstTimestamp', 'lastTimestamp', 'count'] as const;

/** Rules for requests in this version. Field names are those of the stored version. */
export function strictRules(event: StoredEvent, old: StoredEvent | undefined): FieldError[] {
  return old ? updateRules(event, old) : createRules(event);
}

function createRules(event: StoredEvent): FieldError[] {
  const { name = '' } = event.metadata;
  const found = name ? dnsSubdomain(name).map((each) => invalid('metadata.name', name, each)) : [];
  addAll(found, seriesRules(event));
  if (!event.eventTime) found.push(required('eventTime'));
  if (event.type !== 'Normal' && event.type !== 'Warning') {
    found.push(invalid('type', '', `has invalid value: ${event.type ?? ''}`));
  }
  for (const field of OLDER_FORM_FIELDS) if (event[field]) found.push(invalid(field, '', 'needs to be unset'));
  if (event.source.component || event.source.host) found.push(invalid('source', '', 'needs to be unset'));
  return found;
}

/** Immutable fields, each with the value to show in an error if it is absent. */
const IMMUTABLE_FIELDS: readonly [field: keyof StoredEvent, absent: unknown][] = [
  ['involvedObject', {}],
  ['reason', ''],
  ['message', ''],
  ['source', {}],
  ['firstTimestamp', null],
  ['lastTimestamp', null],
  ['count', 0],
  ['type', ''],
  ['eventTime', null],
  ['action', ''],
  ['related', null],
  ['reportingComponent', ''],
  ['reportingInstance', ''],
];

/** Checks that only the series changes. */
function updateRules(event: StoredEvent, old: StoredEvent): FieldError[] {
  const found = deepEqual(event.series, old.series) ? [] : seriesRules(event);
  for (const [field, absent] of IMMUTABLE_FIELDS) {
    if (deepEqual(event[field], old[field])) continue;
    const shown = field === 'reportingComponent' ? 'reportingController' : field;
    found.push(invalid(shown, event[field] ?? absent, 'field is immutable'));
  }
  return found;
}

function seriesRules({ series }: StoredEvent): FieldError[] {
  if (!series) return [];
  const found: FieldError[] = [];
  if ((series.count ?? 0) < 2) found.push(invalid('series.count', '', 'should be at least 2'));
  if (!series.lastObservedTime) found.push(required('series.lastObservedTime'));
  return found;
}
