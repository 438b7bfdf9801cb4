import { s } from '../../../schema/builders.ts';
import { type FieldError, invalid, required } from '../../../schema/field-error.ts';
import { dnsSubdomain, pathSegmentName, qualifiedName } from '../../../schema/names.ts';
import type { ObjectType, RuleContext } from '../../../schema/schema.ts';
import { defineKind, type KubeObject } from '../../kind.ts';
import { ObjectReference } from '../../shapes/meta/references.ts';
import { EventSource, NEWER_VERSION, newerVersion, strictRules } from '../events/event.ts';
import { eventColumns } from './event-columns.ts';

const fields = {
  involvedObject: s.use(ObjectReference, { zero: true, description: 'What it happened to.' }),
  reason: s.string({ omitZero: true, description: 'What happened, in one CamelCase word for programs.' }),
  message: s.string({ omitZero: true, description: 'What happened, for people.' }),
  source: s.use(EventSource, { default: {} }),
  firstTimestamp: s.time({ description: 'When it happened first.' }),
  lastTimestamp: s.time({ description: 'When it happened last.' }),
  count: s.int32({ omitZero: true, description: 'How often it has happened.' }),
  type: s.string({ omitZero: true, description: 'Normal or Warning; others may come.' }),
  eventTime: s.microTime({ description: 'When it happened; its presence makes this an event of the newer form.' }),
  series: s.object('EventSeries', { count: s.int32({ omitZero: true }), lastObservedTime: s.microTime() }),
  action: s.string({ omitZero: true, description: 'What was done, or failed to be done, about the object.' }),
  related: s.use(ObjectReference, { description: 'A second object that had a part in it.' }),
  reportingComponent: s.string({ default: '', description: 'Who reports it, such as `kubernetes.io/kubelet`.' }),
  reportingInstance: s.string({ default: '', description: 'Which instance of the reporter.' }),
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

/** Something that happened in the cluster. */
export const Event = defineKind({
  group: '',
  kind: 'Event',
  plural: 'events',
  short: ['ev'],
  scope: 'Namespaced',
  description: 'Something that happened to an object, told for people. Events are forgotten after a while.',
  versions: { v1: {}, [NEWER_VERSION]: newerVersion(selectable) },
  fields,
  name: pathSegmentName,
  selectable,
  rules: [
    (event: Event, context: RuleContext) => (event.eventTime ? newerForm(event, context) : olderForm(event)),
    namespaceName,
    (event: Event, context: RuleContext) => (isNewer(context) ? strictRules(event, context) : []),
  ],
  createOnUpdate: true,
  columns: eventColumns,
});

/** An event stands beside what it tells of; what lives in no namespace has its events in `default`. */
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
  errors.push(...text('reportingInstance', reportingInstance, 128));
  errors.push(...text('action', event.action ?? '', 128));
  errors.push(...text('reason', event.reason ?? '', 128));
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
