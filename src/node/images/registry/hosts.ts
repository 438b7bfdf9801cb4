/** Hosts that are asked for the images of a registry. */

export interface RegistrySettings {
  /** URLs by registry (`docker.io`) that are asked before it, in this order. */
  readonly mirrors: Readonly<Record<string, readonly string[]>>;
  /** Registries, as `host` or `host:port`, whose certificates are not checked, and that may be without TLS. */
  readonly insecure: readonly string[];
}

export interface RegistryHost {
  /** URL without a slash at the end. */
  readonly url: string;
  readonly isInsecure: boolean;
}

const DOCKER_HUB = 'docker.io';
const DOCKER_HUB_URL = 'https://registry-1.docker.io';
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::(\d+))?$/;
const TLS_PORT = '443';

/** Returns the hosts in the order in which they are asked. */
export function hostsOf(registry: string, { mirrors, insecure }: RegistrySettings): readonly RegistryHost[] {
  const isInsecure = insecure.includes(registry);
  const own = ownUrls(registry, isInsecure).map((url) => ({ url, isInsecure }));
  const mirrored = (mirrors[registry] ?? []).map((url) => ({
    url: url.replace(/\/+$/, ''),
    isInsecure: insecure.includes(new URL(url).host),
  }));
  return [...mirrored, ...own];
}

function ownUrls(registry: string, isInsecure: boolean): string[] {
  if (registry === DOCKER_HUB) return [DOCKER_HUB_URL];
  const loopback = LOOPBACK.exec(registry);
  if (loopback && loopback[1] !== TLS_PORT) return [`http://${registry}`];
  return isInsecure ? [`https://${registry}`, `http://${registry}`] : [`https://${registry}`];
}
