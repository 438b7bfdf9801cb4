/**
 * Subset of nft's language that this program uses. Anything that is not one of its words, a name or a value is
 * rejected.
 */
import { isAddress, isRange } from './values.ts';

const NAME = /^[a-z][a-z0-9._-]{0,120}$/i;
const NUMBER = /^(?:\d+|0x[0-9a-f]+|\d+-\d+)$/;
const PROTOCOLS: readonly string[] = ['tcp', 'udp', 'sctp'];

/** Statements, keys and their operators. */
const WORDS: ReadonlySet<string> = new Set(
  [
    'ip ip6 tcp udp sctp th saddr daddr dport addr port meta l4proto nfproto ipv4 ipv6 mark set ct state status new established',
    'related dnat snat to masquerade fully-random numgen random mod map vmap fib type local iif lo flags syn option maxseg size rt mtu',
    'update reject with reset drop accept return { } . : != == & | ^ ,',
  ]
    .join(' ')
    .split(' '),
);
const TYPES: ReadonlySet<string> = new Set(
  'type ipv4_addr ipv6_addr inet_proto inet_service mark verdict . :'.split(' '),
);
const JUMPS: readonly string[] = ['goto', 'jump'];

export function isName(text: string): boolean {
  return NAME.test(text);
}

/** A rule: words, values, names of sets after `@` and names of chains after a jump, each separated by one blank. */
export function isRule(text: string): boolean {
  let before = '';
  for (const token of text.split(' ')) {
    const word = token.length > 1 && token.endsWith(',') ? token.slice(0, -1) : token;
    const isKnown = JUMPS.includes(before)
      ? isName(word)
      : WORDS.has(word) || JUMPS.includes(word) || isValue(word) || isDestination(word) || isSetName(word);
    if (!isKnown) return false;
    before = token;
  }
  return !JUMPS.includes(before);
}

/** The type of a set or map: `type ipv4_addr . inet_service : verdict`. */
export function isType(text: string): boolean {
  return text.split(' ').every((token) => TYPES.has(token));
}

/** The elements of IPv4 in one expression: there are hundreds of thousands of them. */
const IPV4_ELEMENT = (() => {
  const octet = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)';
  const atom = `(?:${octet}(?:\\.${octet}){3}(?:/(?:3[0-2]|[12]?\\d))?|\\d+|tcp|udp|sctp)`;
  const atoms = `${atom}(?: \\. ${atom})*`;
  return new RegExp(`^${atoms}(?: : (?:${atoms}|drop|(?:goto|jump) [a-z][a-z0-9._-]{0,120}))?$`, 'i');
})();

/** An element of a set or map: values, and a verdict or further values after a colon. */
export function isElement(text: string): boolean {
  if (IPV4_ELEMENT.test(text)) return true;
  const [key = '', value, ...rest] = text.split(' : ');
  if (rest.length > 0 || !key.split(' . ').every(isAtom)) return false;
  return value === undefined || isVerdict(value) || value.split(' . ').every(isAtom);
}

function isVerdict(text: string): boolean {
  const [verb = '', chain, ...rest] = text.split(' ');
  if (chain === undefined) return verb === 'drop';
  return rest.length === 0 && JUMPS.includes(verb) && isName(chain);
}

const isAtom = (text: string) => isValue(text) || PROTOCOLS.includes(text);
const isValue = (text: string) => NUMBER.test(text) || isAddress(text) || isRange(text);
const isSetName = (text: string) => text.startsWith('@') && isName(text.slice(1));

/** `10.0.0.1:80` or `[fd00::1]:80`. */
function isDestination(text: string): boolean {
  const [, v6, v4, port = ''] = /^(?:\[([0-9a-f:.]+)\]|([\d.]+)):(\d{1,5})$/.exec(text) ?? [];
  return isAddress(v6 ?? v4 ?? '') && Number(port) <= 65_535;
}
