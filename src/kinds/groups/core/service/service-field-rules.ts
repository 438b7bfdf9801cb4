/** Rules and defaults of single fields of a Service. */
import { duplicate, type FieldError, required } from '../../../../schema/field-error.ts';

export const ipFamilies = ['IPv4', 'IPv6'] as const;
export const ipFamilyPolicies = ['PreferDualStack', 'RequireDualStack', 'SingleStack'] as const;

/** Reports whether the service is reachable from outside the cluster. */
export function isExternallyAccessible(spec: {
  readonly type?: string;
  readonly externalIPs?: readonly string[];
}): boolean {
  if (spec.type === 'LoadBalancer' || spec.type === 'NodePort') return true;
  return spec.type === 'ClusterIP' && (spec.externalIPs?.length ?? 0) > 0;
}

/** The part of a port that identifies it. */
interface ServicePort {
  readonly name?: string;
  readonly protocol: string;
  readonly port: number;
  readonly nodePort?: number;
}

/** Checks that several ports have names; names, and ports with the same protocol, must be unique. */
export function portList(ports: readonly ServicePort[]): FieldError[] {
  const names = new Set<string>();
  const errors = ports.flatMap(({ name }, index): FieldError[] => {
    if (!name) return ports.length > 1 ? [required(`[${index}].name`)] : [];
    if (names.has(name)) return [duplicate(`[${index}].name`, name)];
    names.add(name);
    return [];
  });
  return [
    ...errors,
    ...repeated(
      ports,
      (port) => port.nodePort,
      (port, at) => duplicate(`${at}.nodePort`, port.nodePort),
    ),
    ...repeated(
      ports,
      (port) => port.port,
      (port, at) => duplicate(at, asComparedPort(port)),
    ),
  ];
}

function repeated(
  ports: readonly ServicePort[],
  number: (port: ServicePort) => number | undefined,
  error: (port: ServicePort, at: string) => FieldError,
): FieldError[] {
  const seen = new Set<string>();
  return ports.flatMap((port, index) => {
    if (!number(port)) return [];
    const key = `${port.protocol} ${number(port)}`;
    if (seen.has(key)) return [error(port, `[${index}]`)];
    seen.add(key);
    return [];
  });
}

/** Messages show the port as Kubernetes compares it: with all fields, only two of them set. */
const asComparedPort = ({ protocol, port }: ServicePort) => ({
  Name: '',
  Protocol: protocol,
  AppProtocol: null,
  Port: port,
  TargetPort: 0,
  NodePort: 0,
});
