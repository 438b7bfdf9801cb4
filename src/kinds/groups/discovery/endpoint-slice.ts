import { addAll } from '../../../base/collections/add-all.ts';
import { s } from '../../../schema/builders.ts';
import { duplicate, type FieldError, invalid } from '../../../schema/field-error.ts';
import { dnsLabel, qualifiedName } from '../../../schema/names.ts';
import { matches } from '../../../schema/rules.ts';
import type { ObjectType } from '../../../schema/schema.ts';
import { age, name, type Sparse, UNSET } from '../../columns/column.ts';
import { longList } from '../../columns/long-list.ts';
import { defineKind, type KubeObject } from '../../kind.ts';
import { ipWarnings } from '../../warnings/addresses.ts';
import { Endpoint } from './endpoint.ts';

const MAX_ENDPOINTS = 1000;
const MAX_PORTS = 20000;

const port = {
  name: s.string(
    'Name of the port, as in the Service. Must be a DNS label or empty, and unique within the slice. Defaults to empty.',
    { default: '', rules: [matches(dnsLabel)] },
  ),
  protocol: s.enum(['SCTP', 'TCP', 'UDP'], 'Transport protocol: TCP, UDP or SCTP. Defaults to TCP.', {
    default: 'TCP',
  }),
  port: s.int32(
    'Port number on the endpoints. Without it the port is not defined, and each consumer decides what that means.',
  ),
  appProtocol: s.string(
    'Application protocol spoken on the port, such as kubernetes.io/h2c or https, as a hint for proxies and meshes.',
  ),
};

const EndpointPort = s.object('EndpointPort', 'A port that is open on all endpoints of the slice.', port, {
  atomic: true,
  rules: [applicationProtocol],
});

const fields = {
  addressType: s.enum(
    ['FQDN', 'IPv4', 'IPv6'],
    'Type of all addresses in the slice: IPv4, IPv6 or FQDN (deprecated). Required; cannot be changed.',
    { zero: true, required: true, immutable: true },
  ),
  ports: s.list(
    EndpointPort,
    'Ports that every endpoint of the slice serves, at most 20000. An empty list means that no ports are defined.',
    { default: [], maxItems: MAX_PORTS, rules: [uniqueNames] },
  ),
  endpoints: s.list(Endpoint, 'The endpoints, at most 1000.', { default: [], maxItems: MAX_ENDPOINTS }),
};

export type EndpointSlice = KubeObject & ObjectType<typeof fields>;

/** Part of the endpoints of a Service. */
export const EndpointSlice = defineKind({
  kind: 'EndpointSlice',
  scope: 'Namespaced',
  description:
    'Part of the endpoints of a Service: addresses of one type, all with the same ports. The label kubernetes.io/service-name names the Service; its endpoints are those of all its slices together. Slices are normally written by a controller.',
  versions: { 'discovery.k8s.io/v1': {} },
  fields,
  generation: true,
  onCreate: dropTopology,
  onUpdate: dropTopology,
  warnings: sliceWarnings,
  columns: ({ text }) => [
    name,
    text('AddressType', 'Type of the addresses.', ({ addressType }) => addressType ?? ''),
    text('Ports', 'Ports of the endpoints.', portsText),
    text('Endpoints', 'Addresses of the endpoints.', ({ endpoints = [] }) => {
      return longList(endpoints.flatMap(({ addresses = [] }) => addresses)) || UNSET;
    }),
    age,
  ],
});

function dropTopology({ endpoints }: EndpointSlice): void {
  for (const endpoint of endpoints) delete endpoint.deprecatedTopology;
}

function applicationProtocol({ appProtocol: name }: ObjectType<typeof port>): FieldError[] {
  return name === undefined ? [] : qualifiedName(name).map((each) => invalid('appProtocol', name, each));
}

function uniqueNames(ports: readonly ObjectType<typeof port>[]): FieldError[] {
  const seen = new Set<string>();
  return ports.flatMap(({ name }, index) => {
    if (seen.has(name)) return [duplicate(`[${index}].name`, name)];
    seen.add(name);
    return [];
  });
}

function portsText({ ports = [] }: Sparse<EndpointSlice>): string {
  return longList(ports.map(({ port, name: title }) => String(port ?? title ?? '*'))) || UNSET;
}

/** Slices of these controllers are not checked for warnings. */
const TRUSTED_CONTROLLERS = ['endpointslice-controller.k8s.io', 'endpointslicemirroring-controller.k8s.io'];

function sliceWarnings(
  { metadata, addressType, endpoints = [] }: EndpointSlice,
  old: EndpointSlice | undefined,
): string[] {
  const found = !old && addressType === 'FQDN' ? ['spec.addressType: FQDN endpoints are deprecated'] : [];
  if (TRUSTED_CONTROLLERS.includes(metadata.labels?.['endpointslice.kubernetes.io/managed-by'] ?? '')) return found;
  endpoints.forEach(({ addresses = [] }, index) => {
    addresses.forEach((address, position) => {
      addAll(found, ipWarnings(`endpoints[${index}].addresses[${position}]`, address));
    });
  });
  return found;
}
