import { hostsOf, type RegistrySettings } from '../../images/registry/hosts.ts';
import { type Tables, toml } from './config-file.ts';

/** Returns the registries that have a `hosts.toml`: containerd asks all others as it does by default. */
export function configuredRegistries({ mirrors, insecure }: RegistrySettings): readonly string[] {
  return [...new Set([...Object.keys(mirrors), ...insecure])];
}

/** The content of `hosts.toml` for a registry: its mirrors are tried in order, then the registry itself. */
export function hostsFile(registry: string, settings: RegistrySettings): string {
  const hosts = hostsOf(registry, settings);
  const server = hosts.at(-1)?.url ?? `https://${registry}`;
  // containerd asks the server last, and verifies its certificate: an insecure one must be a host, too.
  const listed = hosts.filter(({ url, isInsecure }) => url !== server || isInsecure);
  return toml([
    [[], { server }],
    ...listed.map(({ url, isInsecure }): Tables[number] => {
      const capabilities = ['pull', 'resolve'];
      const skips = isInsecure && url.startsWith('https:');
      return [['host', url], skips ? { capabilities, skip_verify: true } : { capabilities }];
    }),
  ]);
}
