/** Where the traffic of an Ingress goes. */
import { s } from '../../../schema/builders.ts';
import { type FieldError, invalid, required, under } from '../../../schema/field-error.ts';
import { dnsLabel, dnsSubdomain, pathSegment, portName, portNumber } from '../../../schema/names.ts';
import type { TypeOf } from '../../../schema/schema.ts';
import { TypedLocalObjectReference } from '../../shapes/meta/references.ts';

const ServiceBackendPort = s.object(
  'ServiceBackendPort',
  { name: s.string({ omitZero: true }), number: s.int32({ omitZero: true }) },
  { default: {}, atomic: true, description: 'A port of the service, by its name or by its number.' },
);

const IngressServiceBackend = s.object('IngressServiceBackend', {
  name: s.string({ zero: true, description: 'A service of the same namespace.' }),
  port: ServiceBackendPort,
});
type IngressServiceBackend = TypeOf<typeof IngressServiceBackend>;

export const IngressBackend = s.object('IngressBackend', {
  service: IngressServiceBackend,
  resource: s.use(TypedLocalObjectReference, {
    description:
      'Another object of the same namespace, which the controller knows what to do with. Not with a service.',
  }),
});
export type IngressBackend = TypeOf<typeof IngressBackend>;

/** Paths are from the backend. */
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
  else if (portText) found.push(...complaints('service.port.name', portText, portName(portText)));
  else if (number) found.push(...complaints('service.port.number', number, portNumber(number)));
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
