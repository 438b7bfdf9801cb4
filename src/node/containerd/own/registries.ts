import type { RegistryOptions } from '../options.ts';
import { toml } from './config-file.ts';

/** The content of `hosts.toml` for a registry. Its mirrors are tried in order, then the registry itself. */
export function hostsFile(registry: string, { mirrors = [], insecure = false }: RegistryOptions): string {
  return toml([
    [[], { server: serverOf(registry) }],
    ...[...mirrors, ...(insecure ? [serverOf(registry)] : [])].map(
      (url) =>
        [
          ['host', url],
          { capabilities: ['pull', 'resolve'], ...(insecure && url.startsWith('https:') && { skip_verify: true }) },
        ] as const,
    ),
  ]);
}

/** The folder of its `hosts.toml`. */
export function hostsFolder(registry: string): string {
  return registry === '*' ? '_default' : registry;
}

/** `docker.io` is only a name; its registry has another address. Registries on this machine mostly have no TLS. */
function serverOf(registry: string): string {
  if (registry === 'docker.io') return 'https://registry-1.docker.io';
  return /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?$/.test(registry)
    ? `http://${registry}`
    : `https://${registry}`;
}
