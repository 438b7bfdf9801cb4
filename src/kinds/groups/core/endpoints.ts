import { s } from '../../../schema/builders.ts';
import { type FieldError, invalid, required } from '../../../schema/field-error.ts';
import { dnsLabel, dnsSubdomain, qualifiedName } from '../../../schema/names.ts';
import { matches } from '../../../schema/rules.ts';
import { age, NONE, name, text } from '../../columns/column.ts';
import { longList } from '../../columns/long-list.ts';
import { defineKind, type ObjectOf } from '../../kind.ts';
import { endpointIpProblems, ipProblems } from '../../shapes/meta/ip-address.ts';
import { portRange } from '../../shapes/meta/port.ts';
import { ObjectReference } from '../../shapes/meta/references.ts';
import { ipWarnings } from '../../warnings/addresses.ts';

const EndpointAddress = s.object(
  'EndpointAddress',
  {
    ip: s.string({ zero: true, description: 'Where the traffic goes.' }),
    hostname: s.string({
      omitZero: true,
      description: 'The name that DNS has for this address alone.',
      rules: [matches(dnsLabel)],
    }),
    nodeName: s.string({ description: 'The node it is on.', rules: [matches(dnsSubdomain)] }),
    targetRef: s.use(ObjectReference, { description: 'The pod behind it.' }),
  },
  { atomic: true, rules: [reachable] },
);

const EndpointPort = s.object(
  'EndpointPort',
  {
    name: s.string({ omitZero: true, description: 'The name of the port of the service.', rules: [matches(dnsLabel)] }),
    port: s.int32({ zero: true, ...portRange }),
    protocol: s.enum(['SCTP', 'TCP', 'UDP'], { default: 'TCP' }),
    appProtocol: s.string({ rules: [matches(qualifiedName)] }),
  },
  { atomic: true },
);

const EndpointSubset = s.object(
  'EndpointSubset',
  {
    addresses: s.list(EndpointAddress, { description: 'Those that are ready for traffic.' }),
    notReadyAddresses: s.list(EndpointAddress, {
      description: 'Those that are starting, or failed a readiness probe.',
    }),
    ports: s.list(EndpointPort, { description: 'The ports that every one of the addresses has.' }),
  },
  { rules: [hasAddresses, portsHaveNames] },
);

/** Where the traffic of a service goes. */
export const Endpoints = defineKind({
  group: '',
  kind: 'Endpoints',
  plural: 'endpoints',
  short: ['ep'],
  scope: 'Namespaced',
  description:
    'The addresses that stand behind the service of the same name. Of a service with a selector they follow its pods; of another, whoever made it writes them.',
  versions: {
    v1: { deprecated: 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice' },
  },
  fields: {
    subsets: s.list(EndpointSubset, { description: 'Groups of addresses that offer the same ports.' }),
  },
  createOnUpdate: true,
  warnings: addressWarnings,
  columns: [name, text('Endpoints', 'Addresses that are ready, with their ports.', endpointsText), age],
});
export type Endpoints = ObjectOf<typeof Endpoints>;

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

function endpointsText({ subsets = [] }: any): string {
  if (subsets.length === 0) return NONE;
  return longList(subsets.flatMap(readyAddresses));
}

function readyAddresses({ addresses = [], ports = [] }: any): string[] {
  const ips: readonly string[] = addresses.map(({ ip }: any) => ip ?? '');
  if (ports.length === 0) return [...ips];
  return ports.flatMap(({ port }: any) => ips.map((ip) => (ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}`)));
}

/** What the controller writes is in order. */
function addressWarnings({ metadata, subsets = [] }: any): string[] {
  if (metadata.labels?.['endpoints.kubernetes.io/managed-by'] === 'endpoint-controller') return [];
  return subsets.flatMap((subset: any, index: number) =>
    ['addresses', 'notReadyAddresses'].flatMap((list) =>
      (subset[list] ?? []).flatMap(({ ip }: any, position: number) =>
        ipWarnings(`subsets[${index}].${list}[${position}].ip`, ip),
      ),
    ),
  );
}
