/**
 * The records of Services, EndpointSlices and Pods, as the Kubernetes DNS specification 1.1.0 describes them. Pure
 * functions: the same objects have the same records.
 */
import { isIPv4 } from 'node:net';
import type { DeepReadonly } from '../../../api/object-types.ts';
import type { SeenService } from '../../../api/seen-objects.ts';
import type { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import type { EndpointSlice } from '../../../kinds/groups/discovery/endpoint-slice.ts';
import { nameFrom } from '../../../protocols/dns-message/name.ts';
import {
  addressRecord,
  cnameRecord,
  ptrRecord,
  reverseName,
  srvRecord,
  type ZoneRecord,
} from '../../../protocols/dns-message/record.ts';

type SeenSlice = DeepReadonly<EndpointSlice>;

/** The weights of the SRV records of a name add up to about this. */
const TOTAL_WEIGHT = 100;

/** The records of a service. `slices` are those that belong to it; only headless services use them. */
export function serviceRecords(service: SeenService, slices: readonly SeenSlice[], domain: string): ZoneRecord[] {
  const { metadata, spec } = service;
  const name = `${metadata.name}.${metadata.namespace}.svc.${domain}`;
  if (spec.type === 'ExternalName') {
    const target = nameFrom(spec.externalName ?? '');
    return target === undefined ? [] : [cnameRecord(name, target)];
  }
  if (spec.clusterIP === 'None') return headlessRecords(service, slices, name);
  return clusterIpRecords(service, name);
}

function clusterIpRecords({ spec }: SeenService, name: string): ZoneRecord[] {
  const addresses = spec.clusterIPs?.length ? spec.clusterIPs : [spec.clusterIP ?? ''];
  const records: ZoneRecord[] = [];
  for (const address of addresses) addAddress(records, name, address);
  if (records.length === 0) return [];
  for (const { name: port, protocol, port: number } of spec.ports ?? []) {
    if (!port) continue;
    const target = { priority: 0, weight: TOTAL_WEIGHT, port: number, target: name };
    records.push(srvRecord(portName(port, protocol, name), target));
  }
  return records;
}

interface HeadlessEndpoint {
  readonly name: string;
  readonly addresses: readonly string[];
  readonly ports: SeenSlice['ports'];
}

function headlessRecords({ spec }: SeenService, slices: readonly SeenSlice[], name: string): ZoneRecord[] {
  const endpoints = slices.flatMap((slice) => endpointsOf(slice, spec.publishNotReadyAddresses === true, name));
  const records: ZoneRecord[] = [];
  const known = new Set<string>();
  for (const endpoint of endpoints) {
    for (const address of endpoint.addresses) {
      // Two slices can name the same endpoint while one replaces the other.
      const key = `${endpoint.name} ${address}`;
      if (known.has(key)) continue;
      known.add(key);
      const own = addressRecord(name, address);
      if (own) records.push(own);
      addAddress(records, endpoint.name, address);
    }
  }
  addPorts(records, endpoints, name);
  return records;
}

function endpointsOf({ endpoints, ports, addressType }: SeenSlice, includeNotReady: boolean, service: string) {
  if (addressType === 'FQDN') return [];
  return endpoints.flatMap(({ addresses, conditions, hostname }): HeadlessEndpoint[] => {
    const [first] = addresses ?? [];
    if (first === undefined || (conditions?.ready === false && !includeNotReady)) return [];
    return [{ name: `${hostname || dashed(first)}.${service}`, addresses: addresses ?? [], ports }];
  });
}

function addPorts(records: ZoneRecord[], endpoints: readonly HeadlessEndpoint[], service: string): void {
  const byPort = new Map<string, Map<string, { port: number; target: string }>>();
  for (const { name: target, ports } of endpoints) {
    for (const { name, protocol, port } of ports) {
      if (!name || port === undefined) continue;
      const owner = portName(name, protocol, service);
      const targets = byPort.get(owner) ?? new Map<string, { port: number; target: string }>();
      targets.set(`${target} ${port}`, { port, target });
      byPort.set(owner, targets);
    }
  }
  for (const [owner, targets] of byPort) {
    const weight = Math.max(1, Math.floor(TOTAL_WEIGHT / targets.size));
    for (const target of targets.values()) records.push(srvRecord(owner, { ...target, priority: 0, weight }));
  }
}

/** The records of a pod: `10-244-0-7.NAMESPACE.pod.DOMAIN`. */
export function podRecords({ metadata, status }: DeepReadonly<Pod>, domain: string): ZoneRecord[] {
  if (status?.phase === 'Succeeded' || status?.phase === 'Failed') return [];
  return (status?.podIPs ?? []).flatMap(({ ip }) => {
    const record = addressRecord(`${dashed(ip ?? '')}.${metadata.namespace}.pod.${domain}`, ip ?? '');
    return record ? [record] : [];
  });
}

function addAddress(records: ZoneRecord[], name: string, address: string): void {
  const record = addressRecord(name, address);
  const reverse = reverseName(address);
  if (record) records.push(record);
  if (reverse) records.push(ptrRecord(reverse, name));
}

function portName(port: string, protocol: string | undefined, service: string): string {
  return `_${port}._${(protocol ?? 'TCP').toLowerCase()}.${service}`;
}

/** `10.244.0.7` as `10-244-0-7`, and `fd00::7` as `fd00--7`. */
function dashed(address: string): string {
  return isIPv4(address) ? address.replaceAll('.', '-') : address.replaceAll(':', '-');
}
