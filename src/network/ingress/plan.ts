/** Computes what the proxy needs from Ingresses, Services, EndpointSlices and Secrets. Pure. */
import type { DeepReadonly } from '../../client/object-types.ts';
import type { Secret } from '../../kinds/groups/core/secret.ts';
import type { Service } from '../../kinds/groups/core/service/service.ts';
import type { EndpointSlice } from '../../kinds/groups/discovery/endpoint-slice.ts';
import type { Ingress } from '../../kinds/groups/networking/ingress.ts';
import type { BackendAddress, IngressCertificate, IngressConfig, PathRule } from './config.ts';
import { withoutSlashes } from './match.ts';

export interface IngressWorld {
  /** Those of our class. */
  readonly ingresses: readonly DeepReadonly<Ingress>[];
  service(namespace: string, name: string): DeepReadonly<Service> | undefined;
  slices(namespace: string, service: string): readonly DeepReadonly<EndpointSlice>[];
  secret(namespace: string, name: string): DeepReadonly<Secret> | undefined;
}

type Backend = NonNullable<DeepReadonly<Ingress>['spec']>['defaultBackend'];

/** Of two rules for the same host and path, that of the older Ingress counts. */
export function planIngress(world: IngressWorld): IngressConfig {
  const hosts = new Map<string, PathRule[]>();
  const known = new Set<string>();
  const backends = new Map<string, readonly BackendAddress[]>();
  const certificates: IngressCertificate[] = [];
  let defaultBackend: string | undefined;
  const use = (namespace: string, backend: Backend): string => {
    const key = keyOf(namespace, backend);
    if (!backends.has(key)) backends.set(key, addressesOf(world, namespace, backend));
    return key;
  };
  for (const { metadata, spec } of [...world.ingresses].sort(byAge)) {
    const namespace = metadata.namespace ?? '';
    if (spec?.defaultBackend && defaultBackend === undefined) defaultBackend = use(namespace, spec.defaultBackend);
    for (const { host = '', http } of spec?.rules ?? []) {
      const rules = hosts.get(host) ?? [];
      hosts.set(host, rules);
      for (const { path = '/', pathType, backend } of http?.paths ?? []) {
        const type = pathType === 'Exact' ? 'Exact' : 'Prefix';
        // Trimmed once, and not for every request.
        const trimmed = type === 'Exact' ? path : withoutSlashes(path) || '/';
        const key = `${host} ${type} ${trimmed}`;
        if (known.has(key)) continue;
        known.add(key);
        rules.push({ path: trimmed, type, backend: use(namespace, backend) });
      }
    }
    for (const { hosts: names, secretName } of spec?.tls ?? []) {
      const pair = secretName ? pairOf(world.secret(namespace, secretName)) : undefined;
      if (pair) certificates.push({ hosts: names ?? [], ...pair });
    }
  }
  return { hosts, defaultBackend, backends, certificates };
}

function byAge(a: DeepReadonly<Ingress>, b: DeepReadonly<Ingress>): number {
  const key = ({ metadata }: DeepReadonly<Ingress>) =>
    `${metadata.creationTimestamp} ${metadata.namespace}/${metadata.name}`;
  return key(a) < key(b) ? -1 : 1;
}

function keyOf(namespace: string, backend: Backend): string {
  const { name = '', port } = backend?.service ?? {};
  return `${namespace}/${name}:${port?.name || port?.number || ''}`;
}

/** The ready endpoints behind the port of a service. */
function addressesOf(world: IngressWorld, namespace: string, backend: Backend): readonly BackendAddress[] {
  const wanted = backend?.service;
  const service = wanted && world.service(namespace, wanted.name);
  if (!wanted || !service) return [];
  const { number, name } = wanted.port ?? {};
  if (service.spec.type === 'ExternalName') {
    return number && service.spec.externalName ? [{ address: service.spec.externalName, port: number }] : [];
  }
  const port = service.spec.ports?.find((each) => (name ? each.name === name : each.port === number));
  if (!port) return [];
  return world.slices(namespace, wanted.name).flatMap(({ ports, endpoints, addressType }) => {
    const target = ports.find((each) => (each.name ?? '') === (port.name ?? '') && each.protocol !== 'UDP')?.port;
    if (target === undefined || addressType === 'FQDN') return [];
    return endpoints
      .filter(({ conditions }) => conditions?.ready !== false)
      .flatMap(({ addresses }) => (addresses?.[0] ? [{ address: addresses[0], port: target }] : []));
  });
}

function pairOf(secret: DeepReadonly<Secret> | undefined): { cert: string; key: string } | undefined {
  const { 'tls.crt': cert, 'tls.key': key } = secret?.data ?? {};
  if (!cert || !key) return undefined;
  const text = (base64: string) => Buffer.from(base64, 'base64').toString();
  return { cert: text(cert), key: text(key) };
}
