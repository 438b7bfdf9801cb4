/** Opens the DNS provider that flags name. */
import { systemRandom } from '../../base/random.ts';
import { systemClock } from '../../base/time/clock.ts';
import { DNS_PROVIDERS, DnsError, type DnsProvider } from '../../federation/dns/provider.ts';
import { loadDnsProvider } from '../../federation/dns/providers/drivers.ts';
import { fromFile } from '../flags/file-content.ts';
import { CliError } from '../output/cli-error.ts';

/** Connects to nothing. Throws an error that names the flag when there is no such provider, or its configuration is wrong. */
export async function openDnsProvider(name: string, zone: string, config: string | undefined): Promise<DnsProvider> {
  const known = DNS_PROVIDERS.find((each) => each === name);
  if (!known) throw new CliError(`--dns-provider ${name} is unknown; known: ${DNS_PROVIDERS.join(', ')}`);
  const driver = await loadDnsProvider(known);
  try {
    return driver.open({ config, zone, now: () => systemClock.now(), random: systemRandom });
  } catch (error) {
    if (!(error instanceof DnsError)) throw error;
    const missing = config === undefined ? ' (none was given)' : '';
    throw new CliError(`--dns-provider-config${missing}: ${error.message}`, { cause: error });
  }
}

export function readDnsConfig(file: string): Promise<string> {
  return fromFile('--dns-provider-config', file, (text) => text);
}
