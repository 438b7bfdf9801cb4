/** The environment of a container: envFrom, then env, then the variables of Services. */
import { cIdentifier } from '../../schema/names.ts';
import type { SeenContainer, SeenPod } from '../pod/container-run.ts';
import type { EnvVariable } from '../runtime/container-config.ts';
import { ContainerConfigError, type Found, fileKey, type Inputs, type ServiceAddress } from './inputs.ts';
import { podField } from './variables/downward-api.ts';
import { EnvFileError, variableInFile } from './variables/env-file.ts';
import { expand } from './variables/expansion.ts';
import { resourceField } from './variables/resource-field.ts';

export interface ConfigEvent {
  readonly type: 'Warning';
  readonly reason: string;
  readonly message: string;
}

export interface Environment {
  readonly env: readonly EnvVariable[];
  /** To be reported when the container starts. */
  readonly events: readonly ConfigEvent[];
}

type EnvVar = NonNullable<SeenContainer['env']>[number];
type EnvSource = NonNullable<EnvVar['valueFrom']>;

/** Throws a ContainerConfigError when something is missing that is not optional. */
export function environmentOf(pod: SeenPod, container: SeenContainer, inputs: Inputs): Environment {
  const services = serviceEnvironment(pod, inputs.services);
  const { variables, events } = fromSources(pod, container, inputs);
  const lookUp = (name: string) => variables.get(name) ?? services.get(name);
  for (const { name, value, valueFrom } of container.env ?? []) {
    if (value) variables.set(name, expand(value, lookUp));
    else if (!valueFrom) variables.set(name, '');
    else {
      const resolved = sourceValue(valueFrom, pod, container, inputs);
      if (resolved !== undefined) variables.set(name, resolved);
    }
  }
  for (const [name, value] of services) if (!variables.has(name)) variables.set(name, value);
  return { env: [...variables].map(([name, value]) => ({ name, value })), events };
}

/**
 * The last source wins. Keys that are no C identifiers are variables like others, as in Kubernetes since 1.34; since shells
 * cannot read them, they are reported in one event per source.
 */
function fromSources({ metadata }: SeenPod, { envFrom = [] }: SeenContainer, { configMaps, secrets }: Inputs) {
  const variables = new Map<string, string>();
  const events: ConfigEvent[] = [];
  for (const { prefix = '', configMapRef, secretRef } of envFrom) {
    const reference = configMapRef ?? secretRef;
    if (!reference) continue;
    const { name = '', optional } = reference;
    const object = configMapRef
      ? objectOf(configMaps.get(name), 'configmap', name, optional)
      : objectOf(secrets.get(name), 'secret', name, optional);
    const invalid: string[] = [];
    for (const [key, value] of Object.entries(object?.data ?? {})) {
      const variable = prefix + key;
      if (cIdentifier(variable).length) invalid.push(variable);
      variables.set(variable, configMapRef ? value : decode(value));
    }
    if (!invalid.length) continue;
    const source = `${configMapRef ? 'configMap' : 'secret'} ${metadata.namespace}/${name}`;
    events.push({
      type: 'Warning',
      reason: 'InvalidEnvironmentVariableNames',
      message: `Keys [${invalid.sort().join(', ')}] from the EnvFrom ${source} are considered invalid environment variable names: they are not C identifiers, and shells cannot read them.`,
    });
  }
  return { variables, events };
}

/** Undefined: it is optional and missing. */
function sourceValue(source: EnvSource, pod: SeenPod, container: SeenContainer, inputs: Inputs): string | undefined {
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef } = source;
  if (fieldRef) return podField(pod, fieldRef.fieldPath, inputs);
  if (resourceFieldRef) return resourceField(resourceFieldRef, pod, container, inputs.allocatable);
  if (configMapKeyRef) {
    const { name = '', key, optional } = configMapKeyRef;
    const object = objectOf(inputs.configMaps.get(name), 'configmap', name, optional);
    return keyOf(object?.data, key, optional || !object, `ConfigMap ${pod.metadata.namespace}/${name}`);
  }
  if (secretKeyRef) {
    const { name = '', key, optional } = secretKeyRef;
    const object = objectOf(inputs.secrets.get(name), 'secret', name, optional);
    const value = keyOf(object?.data, key, optional || !object, `Secret ${pod.metadata.namespace}/${name}`);
    return value === undefined ? undefined : decode(value);
  }
  return fileKeyRef ? fileValue(fileKeyRef, inputs) : '';
}

function objectOf<T>(found: Found<T> | undefined, kind: string, name: string, optional = false): T | undefined {
  if (found?.type === 'found') return found.object;
  if (found?.type === 'failed') throw new ContainerConfigError(found.message);
  if (optional) return undefined;
  throw new ContainerConfigError(`${kind} "${name}" not found`);
}

function keyOf(
  data: Readonly<Record<string, string>> | undefined,
  key: string,
  optional: boolean,
  where: string,
): string | undefined {
  if (data && Object.hasOwn(data, key)) return data[key];
  if (optional) return undefined;
  throw new ContainerConfigError(`couldn't find key ${key} in ${where}`);
}

function fileValue(
  { volumeName, path, key, optional }: NonNullable<EnvSource['fileKeyRef']>,
  { files }: Inputs,
): string | undefined {
  const text = files.get(fileKey(volumeName, path));
  if (text === undefined && optional) return undefined;
  if (text === undefined) throw new ContainerConfigError("couldn't parse env file");
  try {
    const value = variableInFile(text, key);
    if (value !== '') return value;
  } catch (error) {
    if (!(error instanceof EnvFileError)) throw error;
    throw new ContainerConfigError("couldn't parse env file", { cause: error });
  }
  if (optional) return undefined;
  throw new ContainerConfigError(`environment variable key "${key}" not found in file "${path}"`);
}

const decode = (base64: string): string => Buffer.from(base64, 'base64').toString();

/** The Service of the API server, whose variables every container has. */
const API_SERVICE = { namespace: 'default', name: 'kubernetes' };

/** Services that start with other characters than a variable's name have variables nevertheless, as in Kubernetes. */
function serviceEnvironment(pod: SeenPod, services: Iterable<ServiceAddress>): Map<string, string> {
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
