/** Backends of an Ingress. */
import { addAll } from '../../../base/collections/add-all.ts';
import { s } from '../../../schema/builders.ts';
import { type FieldError, invalid, required, under } from '../../../schema/field-error.ts';
import { dnsLabel, dnsSubdomain, pathSegment, portName, portNumber } from '../../../schema/names.ts';
import type { TypeOf } from '../../../schema/schema.ts';
import { TypedLocalObjectReference } from '../../shapes/meta/references.ts';

const ServiceBackendPort = s.struct(
  'ServiceBackendPort',
  'The port of the Service, by name or by number. Exactly one is required.',
  {
    name: s.string('Name of a port of the Service. Cannot be combined with number.', { omitZero: true }),
    number: s.int32('Number of a port of the Service, such as 80. Cannot be combined with name.', { omitZero: true }),
  },
  { atomic: true },
);

const IngressServiceBackend = s.object(
  'IngressServiceBackend',
  'Sends traffic to a port of a Service. Cannot be combined with resource.',
  {
    name: s.string('Name of a Service in the namespace of the Ingress. Required.', { zero: true }),
    port: ServiceBackendPort,
  },
);
type IngressServiceBackend = TypeOf<typeof IngressServiceBackend>;

export const IngressBackend = s.object(
  'IngressBackend',
  'Where traffic is sent to. Exactly one of service and resource must be set.',
  {
    service: IngressServiceBackend,
    resource: s.use(
      TypedLocalObjectReference,
      'Sends traffic to another object in the namespace of the Ingress, of a kind that the controller supports. Cannot be combined with service.',
    ),
  },
);
export type IngressBackend = TypeOf<typeof IngressBackend>;

/** Checks that a backend sets exactly one of service and resource. */
export function backendProblems({ service, resource }: IngressBackend): FieldError[] {
  if (service && resource) return [invalid('', '', 'cannot set both resource and service backends')];
  if (service) return serviceProblems(service);
  if (resource) return under('resource', referenceProblems(resource));
  return [invalid('', '', 'resource or service backend is required')];
}

function serviceProblems({ name, port }: IngressServiceBackend): FieldError[] {
  const found = name ? complaints('service.name', name, dnsLabel(name)) : [required('service.name')];
  const { name: portText, number } = port;
  if (portText && number) found.push(invalid('', '', 'cannot set both port name & port number'));
  else if (portText) addAll(found, complaints('service.port.name', portText, portName(portText)));
  else if (number) addAll(found, complaints('service.port.number', number, portNumber(number)));
  else found.push(required('', 'port name or number is required'));
  return found;
}

function referenceProblems({ apiGroup, kind, name }: TypeOf<typeof TypedLocalObjectReference>): FieldError[] {
  return [
    ...(apiGroup === undefined ? [] : complaints('apiGroup', apiGroup, dnsSubdomain(apiGroup))),
    ...(kind ? complaints('kind', kind, pathSegment(kind)) : [required('kind')]),
    ...(name ? complaints('name', name, pathSegment(name)) : [required('name')]),
  ];
}

const complaints = (field: string, value: unknown, words: readonly string[]) =>
  words.map((each) => invalid(field, value, each));
