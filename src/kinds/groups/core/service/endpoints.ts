import { s } from '../../../../schema/builders.ts';
import { type FieldError, invalid, required } from '../../../../schema/field-error.ts';
import { dnsLabel, dnsSubdomain, qualifiedName } from '../../../../schema/names.ts';
import { matches } from '../../../../schema/rules.ts';
import type { TypeOf } from '../../../../schema/schema.ts';
import { age, NONE, name, type Sparse } from '../../../columns/column.ts';
import { defineKind, type KubeObject, type ObjectOf } from '../../../kind.ts';
import { endpointIpProblems, ipProblems } from '../../../shapes/meta/addresses/ip-address.ts';
import { portRange } from '../../../shapes/meta/addresses/port.ts';
import { ObjectReference } from '../../../shapes/meta/references.ts';
import { ipWarnings } from '../../../warnings/addresses.ts';

const EndpointAddress = s.object(
  'EndpointAddress',
  'An address that receives traffic of the service.',
  {
    ip: s.string('IP address of the endpoint. Loopback, link-local and multicast addresses are not allowed.', {
      zero: true,
    }),
    hostname: s.string(
      'Host name of the endpoint, a DNS label. It resolves to this address alone, below the name of a headless ' +
        'service.',
      { omitZero: true, rules: [matches(dnsLabel)] },
    ),
    nodeName: s.string('Node that the endpoint runs on.', { rules: [matches(dnsSubdomain)] }),
    targetRef: s.use(ObjectReference, 'Object behind the address, usually a pod.'),
  },
  { atomic: true, rules: [reachable] },
);

const EndpointPort = s.object(
  'EndpointPort',
  'A port of the endpoints.',
  {
    name: s.string('Name of the service port. Required if there are several ports.', {
      omitZero: true,
      rules: [matches(dnsLabel)],
    }),
    port: s.int32('Port number on the endpoints, from 1 to 65535.', { zero: true, ...portRange }),
    protocol: s.enum(['SCTP', 'TCP', 'UDP'], 'Protocol of the port: TCP, UDP or SCTP. Defaults to TCP.', {
      default: 'TCP',
    }),
    appProtocol: s.string(
      'Application protocol of the port, such as kubernetes.io/h2c, as a hint for implementations.',
      { rules: [matches(qualifiedName)] },
    ),
  },
  { atomic: true },
);

const EndpointSubset = s.object(
  'EndpointSubset',
  'A group of addresses with the same ports: every address is combined with every port.',
  {
    addresses: s.list(EndpointAddress, 'Addresses that are ready to receive traffic.'),
    notReadyAddresses: s.list(
      EndpointAddress,
      'Addresses of pods that are starting, or whose readiness probe fails. They receive no traffic.',
    ),
    ports: s.list(EndpointPort, 'Ports that all addresses of the subset serve.'),
  },
  { rules: [hasAddresses, portsHaveNames] },
);

/** The addresses behind a service. */
export const Endpoints = defineKind({
  kind: 'Endpoints',
  plural: 'endpoints',
  short: ['ep'],
  scope: 'Namespaced',
  description:
    'Addresses behind the service of the same name. For a service with a selector the server maintains them; ' +
    'otherwise its owner does. Deprecated: use EndpointSlice of discovery.k8s.io/v1.',
  versions: {
    v1: { deprecated: 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice' },
  },
  fields: {
    subsets: s.list(EndpointSubset, 'Groups of addresses with the same ports.'),
  },
  createOnUpdate: true,
  warnings: addressWarnings,
  columns: ({ text }) => [name, text('Endpoints', 'Ready addresses with their ports.', endpointsText), age],
});
export type Endpoints = ObjectOf<typeof Endpoints>;

type Subset = TypeOf<typeof EndpointSubset>;
/** Number of addresses that the column shows. */
const SHOWN_ENDPOINTS = 3;

type WithSubsets = KubeObject & { subsets?: Subset[] };

function reachable({ ip }: { ip: string }): FieldError[] {
  return [...ipProblems(ip), ...endpointIpProblems(ip)].map((problem) => invalid('ip', ip, problem));
}

function hasAddresses({ addresses, notReadyAddresses }: { addresses?: unknown[]; notReadyAddresses?: unknown[] }) {
  return addresses?.length || notReadyAddresses?.length
    ? undefined
    : required('', 'must specify `addresses` or `notReadyAddresses`');
}

function portsHaveNames({ ports = [] }: { ports?: { name?: string }[] }): FieldError[] {
  if (ports.length < 2) return [];
  return ports.flatMap(({ name }, index) => (name ? [] : [required(`ports[${index}].name`)]));
}

/** Counts every address with every port, and writes out only those that are shown. */
function endpointsText({ subsets = [] }: Sparse<WithSubsets>): string {
  if (subsets.length === 0) return NONE;
  const first: string[] = [];
  let count = 0;
  for (const { addresses = [], ports = [] } of subsets) {
    count += addresses.length * Math.max(1, ports.length);
    for (const { port } of ports.length > 0 ? ports.slice(0, SHOWN_ENDPOINTS) : [{ port: undefined }]) {
      for (const { ip = '' } of addresses.slice(0, SHOWN_ENDPOINTS - first.length)) first.push(withPort(ip, port));
    }
  }
  return count > first.length ? `${first.join(',')} + ${count - first.length} more...` : first.join(',');
}

function withPort(ip: string, port: number | undefined): string {
  if (port === undefined) return ip;
  return ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}`;
}

/** Endpoints of the endpoint controller are not checked. */
function addressWarnings({ metadata, subsets = [] }: WithSubsets): string[] {
  if (metadata.labels?.['endpoints.kubernetes.io/managed-by'] === 'endpoint-controller') return [];
  return subsets.flatMap((subset, index) =>
    (['addresses', 'notReadyAddresses'] as const).flatMap((list) =>
      (subset[list] ?? []).flatMap(({ ip }, position) => ipWarnings(`subsets[${index}].${list}[${position}].ip`, ip)),
    ),
  );
}
