/**
 * Names of federated services in a cluster: `SERVICE.NAMESPACE.FEDERATION.svc.DOMAIN` leads to the service of this cluster while it has
 * ready endpoints here, and otherwise to its name in the domain of the federation, in the zone and region of this cluster. Pure.
 */

import type { DeepReadonly } from '../../../api/object-types.ts';
import type { Node } from '../../../kinds/groups/core/node/node.ts';
import type { Service } from '../../../kinds/groups/core/service/service.ts';
import type { EndpointSlice } from '../../../kinds/groups/discovery/endpoint-slice.ts';
import { RecordType } from '../../../protocols/dns-message/codes.ts';
import { nameFrom } from '../../../protocols/dns-message/name.ts';
import { dnameRecord, type ZoneRecord } from '../../../protocols/dns-message/record.ts';

export interface Federation {
  readonly name: string;
  /** `example.com` */
  readonly domain: string;
}

/**
 * Location of the configured federations of a cluster, as in clusters of Kubernetes: `name=domain`, separated by
 * commas.
 */
export const FEDERATIONS = { namespace: 'kube-system', name: 'kube-dns', key: 'federations' } as const;

const ZONE_LABELS = ['topology.kubernetes.io/zone', 'failure-domain.beta.kubernetes.io/zone'];
const REGION_LABELS = ['topology.kubernetes.io/region', 'failure-domain.beta.kubernetes.io/region'];
const LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

/** Entries that are no names are left out. */
export function parseFederations(value: string | undefined): readonly Federation[] {
  return (value ?? '').split(',').flatMap((entry) => {
    const [name = '', text = ''] = entry.split('=').map((part) => part.trim().toLowerCase());
    const domain = nameFrom(text);
    return LABEL.test(name) && domain !== undefined ? [{ name, domain }] : [];
  });
}

/** The zone and the region of the first node that has both, or one of them: `zone.region`. Empty when no node has any. */
export function placeOf(nodes: readonly DeepReadonly<Node>[]): string {
  const labelOf = ({ metadata }: DeepReadonly<Node>, names: readonly string[]) =>
    names
      .map((name) => metadata.labels?.[name]?.toLowerCase())
      .find((value) => value !== undefined && LABEL.test(value));
  const places = nodes.map((node) => ({ zone: labelOf(node, ZONE_LABELS), region: labelOf(node, REGION_LABELS) }));
  const { zone, region } =
    places.find((place) => place.zone && place.region) ?? places.find((place) => place.region) ?? {};
  return region === undefined ? '' : [zone, region].filter(Boolean).join('.');
}

/** Returns a record for each federation: the target of names below it that do not exist here. */
export function federationRecords(
  federations: readonly Federation[],
  place: string,
  clusterDomain: string,
): ZoneRecord[] {
  return federations.map(({ name, domain }) => {
    const target = [name, 'svc', place, domain].filter((part) => part !== '').join('.');
    return dnameRecord(`${name}.svc.${clusterDomain}`, target);
  });
}

/** Returns the addresses of a service under its federated names; none while it has no ready endpoints here. */
export function localRecords(
  { metadata }: DeepReadonly<Service>,
  records: readonly ZoneRecord[],
  context: {
    readonly federations: readonly Federation[];
    readonly slices: readonly DeepReadonly<EndpointSlice>[];
    readonly clusterDomain: string;
  },
): ZoneRecord[] {
  const { federations, slices, clusterDomain } = context;
  const isReady = slices.some(({ endpoints }) => endpoints?.some(({ conditions }) => conditions?.ready !== false));
  if (federations.length === 0 || !isReady) return [];
  const own = `${metadata.name}.${metadata.namespace}.svc.${clusterDomain}`;
  const addresses = records.filter(
    ({ name, type }) => name === own && (type === RecordType.A || type === RecordType.AAAA),
  );
  return federations.flatMap(({ name }) => {
    const federated = `${metadata.name}.${metadata.namespace}.${name}.svc.${clusterDomain}`;
    return addresses.map((record) => ({ ...record, name: federated }));
  });
}
