/** Credentials for registries, from Secrets of the types `kubernetes.io/dockerconfigjson` and `kubernetes.io/dockercfg`. */
import type { SeenPod } from '../../pod/container-run.ts';
import type { RegistryCredentials } from '../../runtime/runtime.ts';

export interface PullSecret {
  readonly type?: string | undefined;
  /** Base64. */
  readonly data?: Readonly<Record<string, string>> | undefined;
}

interface Entry {
  /** `registry.example:5000/path`, or with wildcards in the host. */
  readonly location: string;
  readonly credentials: RegistryCredentials;
}

const DEFAULT_REGISTRY = 'index.docker.io';

/** Returns the credentials that fit the image, the most specific first. */
export function credentialsFor(image: string, secrets: readonly PullSecret[]): readonly RegistryCredentials[] {
  const location = locationOf(image);
  return secrets
    .flatMap(entriesOf)
    .filter((entry) => matches(entry.location, location))
    .sort((a, b) => b.location.length - a.location.length)
    .map(({ credentials }) => credentials);
}

/** Returns the registry and path of an image, without its tag. */
function locationOf(image: string): string {
  const [first = '', ...rest] = image.replace(/@.*$/, '').split('/');
  const hasRegistry = rest.length > 0 && (/[.:]/.test(first) || first === 'localhost');
  const path = hasRegistry ? [first, ...rest] : [DEFAULT_REGISTRY, first, ...rest];
  return path.join('/').replace(/:[^/:]*$/, (tag) => (path.length > 1 ? '' : tag));
}

function matches(pattern: string, location: string): boolean {
  const [host = '', ...path] = pattern.split('/');
  const [imageHost = '', ...imagePath] = location.split('/');
  if (path.some((part, at) => part !== '' && part !== imagePath[at])) return false;
  const [name = '', port = ''] = host.split(':');
  const [imageName = '', imagePort = ''] = imageHost.split(':');
  if (port !== imagePort) return false;
  const parts = name.split('.');
  const imageParts = imageName.split('.');
  return parts.length === imageParts.length && parts.every((part, at) => fits(part, imageParts[at] ?? ''));
}

/** `*` stands for any part of one label of a host name. */
function fits(pattern: string, text: string): boolean {
  if (!pattern.includes('*')) return pattern === text;
  const [start = '', ...others] = pattern.split('*');
  if (!text.startsWith(start)) return false;
  let at = start.length;
  for (const [index, part] of others.entries()) {
    const found = index === others.length - 1 ? text.length - part.length : text.indexOf(part, at);
    if (found < at || !text.startsWith(part, found)) return false;
    at = found + part.length;
  }
  return true;
}

function entriesOf({ type, data = {} }: PullSecret): Entry[] {
  try {
    if (type === 'kubernetes.io/dockerconfigjson') return entries(parse(data['.dockerconfigjson']).auths);
    if (type === 'kubernetes.io/dockercfg') return entries(parse(data['.dockercfg']));
  } catch {
    // A secret that cannot be read gives no credentials, as in Kubernetes.
  }
  return [];
}

function parse(encoded = ''): Record<string, unknown> {
  const value: unknown = JSON.parse(Buffer.from(encoded, 'base64').toString('utf8'));
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function entries(registries: unknown): Entry[] {
  if (typeof registries !== 'object' || registries === null) return [];
  return Object.entries(registries).flatMap(([key, value]) => {
    const credentials = credentialsOf(value);
    const location = key.replace(/^https?:\/\//, '').replace(/\/(v1|v2)?\/?$/, '');
    return credentials ? [{ location, credentials }] : [];
  });
}

function credentialsOf(value: unknown): RegistryCredentials | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { username, password, auth, identitytoken, registrytoken } = value as Record<string, unknown>;
  const [name, secret] = typeof auth === 'string' ? split(auth) : [username, password];
  const tokens = {
    ...(typeof identitytoken === 'string' ? { identityToken: identitytoken } : {}),
    ...(typeof registrytoken === 'string' ? { registryToken: registrytoken } : {}),
  };
  if (typeof name !== 'string' && Object.keys(tokens).length === 0) return undefined;
  return { username: String(name ?? ''), password: String(secret ?? ''), ...tokens };
}

function split(auth: string): readonly [string, string] {
  const text = Buffer.from(auth, 'base64').toString('utf8').replace(/\0+$/, '');
  const at = text.indexOf(':');
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}

interface PodCredentials {
  /** Credentials that fit the image. */
  readonly credentials: readonly RegistryCredentials[];
  /** Names of secrets that could not be read. */
  readonly missing: readonly string[];
}

/** Reads the pull secrets of a pod, to which the server has added those of its service account. */
export async function podCredentials(
  pod: SeenPod,
  image: string,
  read: (namespace: string, name: string) => Promise<PullSecret | undefined>,
): Promise<PodCredentials> {
  const secrets: PullSecret[] = [];
  const missing: string[] = [];
  for (const { name = '' } of pod.spec.imagePullSecrets ?? []) {
    const secret = await read(pod.metadata.namespace ?? '', name);
    if (secret) secrets.push(secret);
    else missing.push(name);
  }
  return { credentials: credentialsFor(image, secrets), missing };
}
