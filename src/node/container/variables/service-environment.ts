/** The variables that tell a container the addresses of Services. */
import type { SeenPod } from '../../pod/container-run.ts';
import type { ServiceAddress } from '../inputs.ts';

/** The Service of the API server, whose variables every container has. */
const API_SERVICE = { namespace: 'default', name: 'kubernetes' };

/** Services that start with other characters than a variable's name have variables nevertheless, as in Kubernetes. */
export function serviceEnvironment(pod: SeenPod, services: Iterable<ServiceAddress>): Map<string, string> {
  const env = new Map<string, string>();
  for (const service of visibleServices(pod, services)) addVariables(env, service);
  return env;
}

function visibleServices({ metadata, spec }: SeenPod, services: Iterable<ServiceAddress>): ServiceAddress[] {
  const byName = new Map<string, ServiceAddress>();
  let api: ServiceAddress | undefined;
  for (const service of services) {
    const { namespace, name = '' } = service.metadata;
    if (!hasAddress(service)) continue;
    if (namespace === API_SERVICE.namespace && name === API_SERVICE.name) api = service;
    else if (namespace === metadata.namespace && spec.enableServiceLinks !== false) byName.set(name, service);
  }
  // A Service of the pod's own namespace with the same name wins.
  if (api && !byName.has(API_SERVICE.name)) byName.set(API_SERVICE.name, api);
  return [...byName.values()];
}

const hasAddress = ({ spec }: ServiceAddress): boolean =>
  spec.clusterIP !== undefined && spec.clusterIP !== '' && spec.clusterIP !== 'None' && !!spec.ports?.length;

function addVariables(env: Map<string, string>, { metadata, spec: { clusterIP = '', ports = [] } }: ServiceAddress) {
  const prefix = variableName(metadata.name ?? '');
  env.set(`${prefix}_SERVICE_HOST`, clusterIP);
  env.set(`${prefix}_SERVICE_PORT`, String(ports[0]?.port));
  for (const { name, port } of ports) {
    if (name) env.set(`${prefix}_SERVICE_PORT_${variableName(name)}`, String(port));
  }
  const host = clusterIP.includes(':') ? `[${clusterIP}]` : clusterIP;
  ports.forEach(({ port, protocol = 'TCP' }, index) => {
    const url = `${protocol.toLowerCase()}://${host}:${port}`;
    // These names are those of Docker's links.
    if (index === 0) env.set(`${prefix}_PORT`, url);
    const link = `${prefix}_PORT_${port}_${protocol.toUpperCase()}`;
    env.set(link, url);
    env.set(`${link}_PROTO`, protocol.toLowerCase());
    env.set(`${link}_PORT`, String(port));
    env.set(`${link}_ADDR`, clusterIP);
  });
}

const variableName = (name: string): string => name.replaceAll('-', '_').toUpperCase();
