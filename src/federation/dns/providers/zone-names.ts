/** Names of zones and of the records in them. */
import { nameFrom } from '../../../protocols/dns-message/name.ts';
import { DnsError, type RecordChanges } from '../provider.ts';

/** The name with a trailing dot, in lower case. Throws a DnsError when it is no name. */
export function absoluteName(text: string): string {
  const name = nameFrom(text);
  if (name === undefined) throw new DnsError('Invalid', `"${text}" is not a domain name`);
  return `${name}.`;
}

/** Throws a DnsError when a change concerns a name that is not in the zone. */
export function checkNames({ remove, ensure }: RecordChanges, zone: string): void {
  for (const { name } of [...remove, ...ensure]) {
    if (!name.endsWith(`.${zone}`)) throw new DnsError('Invalid', `${name} is not in the zone ${zone}`);
  }
}
