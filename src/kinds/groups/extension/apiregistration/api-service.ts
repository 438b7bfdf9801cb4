import { s } from '../../../../schema/builders.ts';
import { type FieldError, invalid, notSupported, required } from '../../../../schema/field-error.ts';
import { dns1035Label, dnsSubdomain, pathSegmentName, portNumber } from '../../../../schema/names.ts';
import type { ObjectType } from '../../../../schema/schema.ts';
import { shortJson } from '../../../../schema/short-json.ts';
import { age, name } from '../../../columns/column.ts';
import { defineKind, type HookContext, type KubeObject } from '../../../kind.ts';

const HTTPS_PORT = 443;
const MAX_GROUP_PRIORITY = 20_000;
const MAX_VERSION_PRIORITY = 1000;

const ServiceReference = s.object(
  'ServiceReference',
  'Service in front of the server that serves the group and version. Absent: this server serves them itself.',
  {
    namespace: s.string('Namespace of the Service. Required.'),
    name: s.string('Name of the Service. Required.'),
    port: s.int32('Port of the Service, from 1 to 65535. Defaults to 443.', { default: HTTPS_PORT }),
  },
);

const APIServiceCondition = s.object('APIServiceCondition', 'A condition of the APIService.', {
  type: s.string('Type of the condition: `Available`.', { zero: true }),
  status: s.string('Whether it applies: True, False or Unknown.', { zero: true }),
  lastTransitionTime: s.time('When the status of the condition last changed.'),
  reason: s.string('Reason for the last change, one word in camel case.'),
  message: s.string('Details of the last change, for people.'),
});

const fields = {
  spec: s.struct('APIServiceSpec', 'Which group and version is served, and by what.', {
    service: ServiceReference,
    group: s.string('API group that is served. Empty for the core group.', { omitZero: true }),
    version: s.string('API version that is served, such as v1. Required.', { omitZero: true }),
    insecureSkipTLSVerify: s.boolean(
      'Whether the certificate of the server is not verified. Anyone on the way can then read and change requests; set caBundle instead.',
      { omitZero: true },
    ),
    caBundle: s.bytes(
      'PEM bundle of the certificate authorities that the certificate of the server is verified with. Defaults to those of the machine.',
    ),
    groupPriorityMinimum: s.int32(
      'Priority of the group in discovery, from 1 to 20000: clients prefer groups with higher ones. The highest of the versions of a group counts; equal groups are ordered by name. Required.',
      { zero: true },
    ),
    versionPriority: s.int32(
      'Priority of the version within its group, from 1 to 1000: clients prefer higher ones. Equal ones are ordered as versions are: v2, v1, v1beta1. Required.',
      { zero: true },
    ),
  }),
  status: s.object('APIServiceStatus', 'Most recently observed state of the server. Read-only.', {
    conditions: s.listMap(
      APIServiceCondition,
      'Current state of the APIService: whether it is available, and why not.',
      { keys: ['type'] },
    ),
  }),
};

export type APIService = KubeObject & ObjectType<typeof fields>;
export type APIServiceCondition = NonNullable<NonNullable<APIService['status']>['conditions']>[number];

/** The condition of an APIService that this server serves itself. */
export const LOCAL_CONDITION = {
  type: 'Available',
  status: 'True',
  reason: 'Local',
  message: 'Local APIServices are always available',
} as const;

/** Says which server serves a group and version. */
export const APIService = defineKind({
  kind: 'APIService',
  categories: ['api-extensions'],
  scope: 'Cluster',
  description:
    'Says what serves an API group and version: this server, or another one behind a Service, which requests are passed on to. Its name is the version, a dot and the group.',
  versions: {
    'apiregistration.k8s.io/v1': {},
    'apiregistration.k8s.io/v1beta1': {},
  },
  fields,
  subresources: { status: true },
  requiresVersion: true,
  name: pathSegmentName,
  onCreate: (object: APIService, { now }: HookContext) => {
    if (!object.spec.service) object.status = { conditions: [{ ...LOCAL_CONDITION, lastTransitionTime: now }] };
  },
  rules: [nameIsVersionAndGroup, groupAndVersionAreValid, prioritiesAreValid, serviceIsValid, conditionsAreValid],
  columns: ({ text }) => [
    name,
    text('Service', 'The reference to the service that hosts this API endpoint.', ({ spec }) =>
      spec?.service ? `${spec.service.namespace}/${spec.service.name}` : 'Local',
    ),
    text('Available', 'Whether this service is available.', ({ status }) => {
      const condition = status?.conditions?.find((each) => each?.type === LOCAL_CONDITION.type);
      if (!condition) return 'Unknown';
      const { status: word, reason } = condition;
      return word !== 'True' && reason ? `${word} (${reason})` : (word ?? '');
    }),
    age,
  ],
});

function nameIsVersionAndGroup({ metadata, spec }: APIService): FieldError[] {
  const wanted = `${spec.version ?? ''}.${spec.group ?? ''}`;
  if (metadata.name === wanted) return [];
  const detail = `must be \`spec.version+"."+spec.group\`: ${shortJson(wanted)}`;
  return [invalid('metadata.name', metadata.name, detail)];
}

function groupAndVersionAreValid({ spec: { group = '', version = '' } }: APIService): FieldError[] {
  const onlyCore = 'only v1 may have an empty group and it better be legacy kube';
  return [
    ...(group === '' && version !== 'v1' ? [required('spec.group', onlyCore)] : []),
    ...(group === '' ? [] : dnsSubdomain(group)).map((problem) => invalid('spec.group', group, problem)),
    ...dns1035Label(version).map((problem) => invalid('spec.version', version, problem)),
  ];
}

function prioritiesAreValid({ spec: { groupPriorityMinimum: ofGroup, versionPriority: own } }: APIService) {
  const found: FieldError[] = [];
  if (!(ofGroup > 0 && ofGroup <= MAX_GROUP_PRIORITY)) {
    found.push(invalid('spec.groupPriorityMinimum', ofGroup, 'must be positive and less than 20000'));
  }
  if (!(own > 0 && own <= MAX_VERSION_PRIORITY)) {
    found.push(invalid('spec.versionPriority', own, 'must be positive and less than 1000'));
  }
  return found;
}

function serviceIsValid({ spec }: APIService): FieldError[] {
  const { service, caBundle = '', insecureSkipTLSVerify: insecure = false } = spec;
  const bundle = Buffer.byteLength(caBundle, 'base64');
  const found: FieldError[] = [];
  if (!service) {
    if (bundle > 0) {
      found.push(invalid('spec.caBundle', `${bundle} bytes`, 'local APIServices may not have a caBundle'));
    }
    if (insecure) {
      const detail = 'local APIServices may not have insecureSkipTLSVerify';
      found.push(invalid('spec.insecureSkipTLSVerify', insecure, detail));
    }
    return found;
  }
  if (!service.namespace) found.push(required('spec.service.namespace', ''));
  if (!service.name) found.push(required('spec.service.name', ''));
  const problems = portNumber(service.port);
  if (problems.length > 0) {
    found.push(invalid('spec.service.port', service.port, `port is not valid: ${problems.join(', ')}`));
  }
  if (insecure && bundle > 0) {
    found.push(invalid('spec.insecureSkipTLSVerify', insecure, 'may not be true if caBundle is present'));
  }
  return found;
}

const STATUSES = ['True', 'False', 'Unknown'];

function conditionsAreValid({ status }: APIService): FieldError[] {
  return (status?.conditions ?? []).flatMap((condition, index) =>
    STATUSES.includes(condition.status)
      ? []
      : [notSupported(`status.conditions[${index}].status`, condition.status, STATUSES)],
  );
}
