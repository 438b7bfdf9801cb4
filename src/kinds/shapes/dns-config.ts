import { s } from '../../schema/builders.ts';
import type { TypeOf } from '../../schema/schema.ts';

const PodDNSConfigOption = s.object('PodDNSConfigOption', { name: s.string(), value: s.string() });

/** What is added to the resolver configuration that the DNS policy makes. */
export const PodDNSConfig = s.object('PodDNSConfig', {
  nameservers: s.list(s.string()),
  searches: s.list(s.string()),
  options: s.list(PodDNSConfigOption),
});
export type PodDNSConfig = TypeOf<typeof PodDNSConfig>;
