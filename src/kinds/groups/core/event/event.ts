import { addAll } from '../../../../base/collections/add-all.ts';
import { s } from '../../../../schema/builders.ts';
import { type FieldError, invalid, required } from '../../../../schema/field-error.ts';
import { dnsSubdomain, pathSegmentName, qualifiedName } from '../../../../schema/names.ts';
import type { ObjectType, RuleContext } from '../../../../schema/schema.ts';
import { name, type Sparse, wide } from '../../../columns/column.ts';
import { elapsed } from '../../../columns/elapsed.ts';
import { defineKind, type KubeObject } from '../../../kind.ts';
import { ObjectReference } from '../../../shapes/meta/references.ts';
import { EventSource, NEWER_VERSION, newerVersion, strictRules } from '../../events/event.ts';

const fields = {
  involvedObject: s.use(ObjectReference, 'Object that the event is about.', { zero: true }),
  reason: s.string('Machine-readable cause of the event, as one CamelCase word, such as FailedScheduling.', {
    omitZero: true,
  }),
  message: s.string('Description of the event for people.', { omitZero: true }),
  source: s.use(EventSource, 'Component that reported the event. Newer events use reportingComponent.', {
    default: {},
  }),
  firstTimestamp: s.time('Time of the first occurrence.'),
  lastTimestamp: s.time('Time of the most recent occurrence.'),
  count: s.int32('Number of occurrences so far.', { omitZero: true }),
  type: s.string('Severity of the event: Normal or Warning. More types may be added.', { omitZero: true }),
  eventTime: s.microTime(
    'Time of the first occurrence, in microseconds. If set, reportingComponent, reportingInstance, action ' +
      'and reason are required.',
  ),
  series: s.object('EventSeries', 'Further occurrences of the same event. Absent for an event that happened once.', {
    count: s.int32('Number of occurrences in the series so far.', { omitZero: true }),
    lastObservedTime: s.microTime('Time of the most recent occurrence.'),
  }),
  action: s.string('Action that was taken or that failed, such as Binding. At most 128 characters.', {
    omitZero: true,
  }),
  related: s.use(ObjectReference, 'Second object involved, such as the one that an action created.'),
  reportingComponent: s.string('Component that reported the event, such as kubernetes.io/kubelet.', { default: '' }),
  reportingInstance: s.string(
    'Instance of the reporting component, such as the name of its node. At most 128 characters.',
    { default: '' },
  ),
};

export type Event = KubeObject & ObjectType<typeof fields>;

const selectable = {
  'involvedObject.kind': ({ involvedObject }: Event) => involvedObject.kind ?? '',
  'involvedObject.namespace': ({ involvedObject }: Event) => involvedObject.namespace ?? '',
  'involvedObject.name': ({ involvedObject }: Event) => involvedObject.name ?? '',
  'involvedObject.uid': ({ involvedObject }: Event) => involvedObject.uid ?? '',
  'involvedObject.apiVersion': ({ involvedObject }: Event) => involvedObject.apiVersion ?? '',
  'involvedObject.resourceVersion': ({ involvedObject }: Event) => involvedObject.resourceVersion ?? '',
  'involvedObject.fieldPath': ({ involvedObject }: Event) => involvedObject.fieldPath ?? '',
  reason: (event: Event) => event.reason ?? '',
  reportingComponent: (event: Event) => event.reportingComponent,
  source: (event: Event) => event.source.component || event.reportingComponent,
  type: (event: Event) => event.type ?? '',
};

/** A report of something that happened to an object. */
export const Event = defineKind({
  kind: 'Event',
  short: ['ev'],
  scope: 'Namespaced',
  description: 'Report of something that happened to an object. Informative only; do not rely on events being kept.',
  versions: { v1: {}, [NEWER_VERSION]: newerVersion(selectable) },
  fields,
  name: pathSegmentName,
  selectable,
  rules: [
    (event, context) => (event.eventTime ? newerForm(event, context) : olderForm(event)),
    namespaceName,
    (event, context) => (isNewer(context) ? strictRules(event, context.oldRoot) : []),
  ],
  createOnUpdate: true,
  columns: ({ text }) => [
    text('Last Seen', 'Time since the most recent occurrence.', lastSeen),
    text('Type', 'Severity: Normal or Warning.', ({ type }) => type ?? ''),
    text('Reason', 'Cause of the event, in one word.', ({ reason }) => reason ?? ''),
    text('Object', 'Object that the event is about.', ({ involvedObject }) => {
      const kind = (involvedObject?.kind ?? '').toLowerCase();
      return involvedObject?.name ? `${kind}/${involvedObject.name}` : kind;
    }),
    wide(
      text(
        'Subobject',
        'Part of the object that the event is about.',
        ({ involvedObject }) => involvedObject?.fieldPath ?? '',
      ),
    ),
    wide(text('Source', 'Component and node that reported the event.', sourceText)),
    text('Message', 'Description of the event.', ({ message }) => (message ?? '').trim()),
    wide(text('First Seen', 'Time since the first occurrence.', firstSeen)),
    wide(text('Count', 'Number of occurrences.', ({ series, count }) => (series ? (series.count ?? 0) : count || 1))),
    wide(name),
  ],
});

/** An event is in the namespace of its object; events about cluster-scoped objects are in `default`. */
function olderForm({ involvedObject, metadata }: Event): FieldError[] {
  const { namespace = '' } = metadata;
  const about = involvedObject.namespace ?? '';
  const fits = about ? about === namespace : namespace === '' || namespace === 'default';
  return fits ? [] : [elsewhere(about)];
}

const isNewer = ({ apiVersion }: RuleContext) => apiVersion === NEWER_VERSION;

function newerForm(event: Event, context: RuleContext): FieldError[] {
  const { involvedObject, metadata, reportingComponent, reportingInstance } = event;
  const reporter = isNewer(context) ? 'reportingController' : 'reportingComponent';
  const errors: FieldError[] = [];
  if (!involvedObject.namespace && !['default', 'kube-system'].includes(metadata.namespace ?? '')) {
    errors.push(elsewhere(''));
  }
  if (!reportingComponent) errors.push(required(reporter));
  for (const each of qualifiedName(reportingComponent)) errors.push(invalid(reporter, reportingComponent, each));
  addAll(errors, text('reportingInstance', reportingInstance, 128));
  addAll(errors, text('action', event.action ?? '', 128));
  addAll(errors, text('reason', event.reason ?? '', 128));
  if (Buffer.byteLength(event.message ?? '') > 1024) errors.push(lengthError('message', 1024));
  return errors;
}

const elsewhere = (namespace: string) =>
  invalid('involvedObject.namespace', namespace, 'does not match event.namespace');

const lengthError = (field: string, limit: number) => invalid(field, '', `can have at most ${limit} characters`);

function text(field: string, value: string, limit: number): FieldError[] {
  if (!value) return [required(field)];
  return Buffer.byteLength(value) > limit ? [lengthError(field, limit)] : [];
}

function namespaceName({ metadata: { namespace = '' } }: Event): FieldError[] {
  return dnsSubdomain(namespace).map((each) => invalid('namespace', namespace, each));
}

function firstSeen({ firstTimestamp, eventTime }: Sparse<Event>, now: number): string {
  return elapsed(firstTimestamp ?? eventTime, now);
}

function lastSeen(event: Sparse<Event>, now: number): string {
  if (event.series) return elapsed(event.series.lastObservedTime, now);
  return event.lastTimestamp ? elapsed(event.lastTimestamp, now) : firstSeen(event, now);
}

function sourceText({ source, reportingComponent, reportingInstance }: Sparse<Event>): string {
  const component = source?.component || reportingComponent || '';
  const instance = source?.host || reportingInstance;
  return instance ? `${component}, ${instance}` : component;
}
