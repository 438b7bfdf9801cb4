/** Rules for whole Services; those of single fields are in service.ts. */
import { addAll } from '../../../../base/collections/add-all.ts';
import { type FieldError, forbidden, invalid, required } from '../../../../schema/field-error.ts';
import { dnsSubdomain, portNumber, qualifiedName } from '../../../../schema/names.ts';
import type { RuleContext } from '../../../../schema/schema.ts';
import { cidrProblems, endpointIpProblems, ipFamily, ipProblems } from '../../../shapes/meta/addresses/ip-address.ts';
import { needsHealthCheckNodePort } from './service-addresses.ts';
import { clusterIpErrors, HEADLESS, hasAddresses, isHeadless } from './service-cluster-ips.ts';
import { isExternallyAccessible } from './service-field-rules.ts';
import type { Service, ServiceSpec } from './service-fields.ts';

type ServiceContext = RuleContext<Service, Service>;
type ServiceRule = (service: Service, context: ServiceContext) => FieldError[];

const specRules: readonly ServiceRule[] = [
  changesOfAddresses,
  changesOfFamilies,
  changesOfLoadBalancer,
  topologyAnnotations,
  ports,
  typeAndAddresses,
  externalName,
  ({ spec }, context) => clusterIpErrors(spec, oldSpec(context)),
  externalIps,
  nodePorts,
  loadBalancer,
  trafficPolicies,
];

export const serviceRules: readonly ServiceRule[] = [
  (service, context) =>
    context.subresource === 'status' ? ingress(service, context) : specRules.flatMap((rule) => rule(service, context)),
];

const oldSpec = (context: ServiceContext): ServiceSpec | undefined => context.oldRoot?.spec;

/** Errors of new values; unchanged ones may have been accepted by an older release. */
function newOnes(
  values: readonly string[] | undefined,
  known: readonly string[] | undefined,
  judge: (value: string, index: number) => readonly FieldError[],
): FieldError[] {
  const old = new Set(known);
  return (values ?? []).flatMap((value, index) => (old.has(value) ? [] : judge(value, index)));
}

const complaints = (field: string, value: unknown, words: readonly string[]) =>
  words.map((each) => invalid(field, value, each));

/** A second cluster IP can be added, or removed by a change of ipFamilyPolicy; the first is immutable. */
function changesOfAddresses({ spec }: Service, context: ServiceContext): FieldError[] {
  const before = oldSpec(context);
  if (!before || !hasAddresses(spec) || !hasAddresses(before)) return [];
  if (isHeadless(spec) && isHeadless(before)) return [];
  const now = spec.clusterIPs ?? [];
  const then = before.clusterIPs ?? [];
  const changed = (index: number) => invalid(`spec.clusterIPs[${index}]`, spec.clusterIPs, 'may not change once set');
  if (now.length === then.length) return then.flatMap((ip, index) => (ip === now[index] ? [] : [changed(index)]));
  if (now.length === 0) return [invalid('spec.clusterIPs[0]', null, 'primary clusterIP can not be unset')];
  const errors = then.length > 0 && then[0] !== now[0] ? [changed(0)] : [];
  if (then.length > 1 && now.length === 1 && spec.ipFamilyPolicy !== 'SingleStack') {
    const detail = "must be set to 'SingleStack' when releasing the secondary clusterIP";
    errors.push(invalid('spec.ipFamilyPolicy', spec.ipFamilyPolicy, detail));
  }
  return errors;
}

function changesOfFamilies({ spec }: Service, context: ServiceContext): FieldError[] {
  const before = oldSpec(context);
  if (!before || !hasAddresses(spec) || !hasAddresses(before) || isHeadless(spec) || isHeadless(before)) return [];
  const now = spec.ipFamilies ?? [];
  const then = before.ipFamilies ?? [];
  const at = 'spec.ipFamilies[0]';
  if (now.length === then.length) {
    return then.flatMap((each, index) => (each === now[index] ? [] : [invalid(at, now, 'may not change once set')]));
  }
  const errors: FieldError[] = [];
  if (now.length > 0 && then.length > 0 && now[0] !== then[0]) {
    errors.push(invalid(at, spec.clusterIPs, 'may not change once set'));
  }
  if (then.length > 1 && now.length === 1 && spec.ipFamilyPolicy !== 'SingleStack') {
    const detail = "must be set to 'SingleStack' when releasing the secondary ipFamily";
    errors.push(invalid('spec.ipFamilyPolicy', spec.ipFamilyPolicy, detail));
  }
  return errors;
}

function changesOfLoadBalancer({ spec }: Service, context: ServiceContext): FieldError[] {
  const before = oldSpec(context);
  if (!before || spec.type !== 'LoadBalancer' || before.type !== 'LoadBalancer') return [];
  const errors: FieldError[] = [];
  if (spec.loadBalancerClass !== before.loadBalancerClass) {
    errors.push(invalid('spec.loadBalancerClass', spec.loadBalancerClass, 'may not change once set'));
  }
  const both = needsHealthCheckNodePort(before) && needsHealthCheckNodePort(spec);
  if (both && spec.healthCheckNodePort !== before.healthCheckNodePort) {
    errors.push(forbidden('spec.healthCheckNodePort', 'field is immutable'));
  }
  return errors;
}

const TOPOLOGY_MODE = 'service.kubernetes.io/topology-mode';
const TOPOLOGY_HINTS = 'service.kubernetes.io/topology-aware-hints';

function topologyAnnotations({ metadata }: Service): FieldError[] {
  const { [TOPOLOGY_MODE]: mode, [TOPOLOGY_HINTS]: hints } = metadata.annotations ?? {};
  if (mode === undefined || hints === undefined || mode === hints) return [];
  const detail = `must match annotations[${TOPOLOGY_HINTS}] when both are specified`;
  return [invalid(`metadata.annotations[${TOPOLOGY_MODE}]`, mode, detail)];
}

function ports({ spec }: Service): FieldError[] {
  return spec.ports?.length || isHeadless(spec) || spec.type === 'ExternalName' ? [] : [required('spec.ports')];
}

function typeAndAddresses({ spec }: Service): FieldError[] {
  if ((spec.type === 'LoadBalancer' || spec.type === 'NodePort') && isHeadless(spec)) {
    return [invalid('spec.clusterIPs[0]', HEADLESS, `may not be set to 'None' for ${spec.type} services`)];
  }
  if (spec.type !== 'ExternalName') return [];
  const unwanted = [
    spec.clusterIPs?.length && 'clusterIPs',
    spec.ipFamilies?.length && 'ipFamilies',
    spec.ipFamilyPolicy && 'ipFamilyPolicy',
  ];
  return unwanted.flatMap((field) =>
    field ? [forbidden(`spec.${field}`, 'may not be set for ExternalName services')] : [],
  );
}

/** A fully qualified name may end with a dot. */
function externalName({ spec }: Service): FieldError[] {
  if (spec.type !== 'ExternalName') return [];
  const name = (spec.externalName ?? '').replace(/\.$/, '');
  return name ? complaints('spec.externalName', name, dnsSubdomain(name)) : [required('spec.externalName')];
}

function externalIps({ spec }: Service, context: ServiceContext): FieldError[] {
  const known = new Set(oldSpec(context)?.externalIPs);
  return (spec.externalIPs ?? []).flatMap((ip, index) => {
    const malformed = known.has(ip) ? [] : ipProblems(ip);
    return complaints(`spec.externalIPs[${index}]`, ip, malformed.length > 0 ? malformed : endpointIpProblems(ip));
  });
}

function nodePorts({ spec }: Service): FieldError[] {
  if (spec.type !== 'ClusterIP') return [];
  return (spec.ports ?? []).flatMap((port, index) =>
    port.nodePort ? [forbidden(`spec.ports[${index}].nodePort`, "may not be used when `type` is 'ClusterIP'")] : [],
  );
}

const ONLY_LOAD_BALANCER = "may only be used when `type` is 'LoadBalancer'";
/** An annotation with more ranges has more than the 256 KiB that annotations may have. */
const MAX_RANGES = 30_000;
const SOURCE_RANGES = 'service.beta.kubernetes.io/load-balancer-source-ranges';

function loadBalancer(service: Service, context: ServiceContext): FieldError[] {
  const { spec } = service;
  const errors = sourceRanges(service, context);
  if (spec.type !== 'LoadBalancer') {
    if (spec.allocateLoadBalancerNodePorts !== undefined) {
      errors.push(forbidden('spec.allocateLoadBalancerNodePorts', ONLY_LOAD_BALANCER));
    }
    if (spec.loadBalancerClass !== undefined) errors.push(forbidden('spec.loadBalancerClass', ONLY_LOAD_BALANCER));
  } else if (spec.loadBalancerClass !== undefined) {
    const name = spec.loadBalancerClass;
    addAll(errors, complaints('spec.loadBalancerClass', name, qualifiedName(name)));
  }
  return errors;
}

/** Spaces around a range are accepted; the annotation is the older form of the field. */
function sourceRanges({ spec, metadata }: Service, context: ServiceContext): FieldError[] {
  const notHere = (field: string) => (spec.type === 'LoadBalancer' ? [] : [forbidden(field, ONLY_LOAD_BALANCER)]);
  if (spec.loadBalancerSourceRanges?.length) {
    const field = 'spec.LoadBalancerSourceRanges';
    const trimmed = spec.loadBalancerSourceRanges.map((range) => range.trim());
    const known = oldSpec(context)?.loadBalancerSourceRanges?.map((range) => range.trim());
    const judge = (range: string, index: number) => complaints(`${field}[${index}]`, range, cidrProblems(range));
    return [...notHere(field), ...newOnes(trimmed, known, judge)];
  }
  const annotation = metadata.annotations?.[SOURCE_RANGES];
  if (annotation === undefined) return [];
  const field = `metadata.annotations[${SOURCE_RANGES}]`;
  if (!annotation.trim() || context.oldRoot?.metadata.annotations?.[SOURCE_RANGES] === annotation)
    return notHere(field);
  const ranges = annotation.split(',', MAX_RANGES).map((range) => range.trim());
  return [...notHere(field), ...ranges.flatMap((range) => complaints(field, range, cidrProblems(range)))];
}

function trafficPolicies({ spec }: Service): FieldError[] {
  const errors: FieldError[] = [];
  if (spec.externalTrafficPolicy && !isExternallyAccessible(spec)) {
    const detail = 'may only be set for externally-accessible services';
    errors.push(invalid('spec.externalTrafficPolicy', spec.externalTrafficPolicy, detail));
  }
  const healthPort = spec.healthCheckNodePort;
  if (!healthPort) return errors;
  if (needsHealthCheckNodePort(spec)) {
    addAll(errors, complaints('spec.healthCheckNodePort', healthPort, portNumber(healthPort)));
  } else {
    const detail = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
    errors.push(invalid('spec.healthCheckNodePort', healthPort, detail));
  }
  return errors;
}

/** Checks the addresses in the status of a load balancer. */
function ingress({ spec, status }: Service, context: ServiceContext): FieldError[] {
  const points = status?.loadBalancer.ingress ?? [];
  const field = 'status.loadBalancer.ingress';
  if (points.length > 0 && spec.type !== 'LoadBalancer') {
    return [forbidden(field, "may only be used when `spec.type` is 'LoadBalancer'")];
  }
  const known = new Set(context.oldRoot?.status?.loadBalancer.ingress?.map((point) => point.ip));
  return points.flatMap(({ ip, ipMode, hostname }, index) => {
    const at = `${field}[${index}]`;
    const errors = ip && !known.has(ip) ? complaints(`${at}.ip`, ip, ipProblems(ip)) : [];
    if (ip && !ipMode) errors.push(required(`${at}.ipMode`, 'must be specified when `ip` is set'));
    if (!ip && ipMode) errors.push(forbidden(`${at}.ipMode`, 'may not be specified when `ip` is not set'));
    if (!hostname) return errors;
    addAll(errors, complaints(`${at}.hostname`, hostname, dnsSubdomain(hostname)));
    if (ipFamily(hostname)) {
      errors.push(invalid(`${at}.hostname`, hostname, 'must be a DNS name, not an IP address'));
    }
    return errors;
  });
}
