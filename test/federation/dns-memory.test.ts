import { systemRandom } from '../../src/base/random.ts';
import { describeDnsProvider } from '../support/federation/dns-contract.ts';
import { memoryDns } from '../support/federation/memory-dns.ts';

const provider = memoryDns.open({ config: 'example.com.', now: () => 0, random: systemRandom });

describeDnsProvider('the provider in memory', () => ({ provider, zone: 'example.com.' }));
