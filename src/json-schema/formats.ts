/** The formats of strings that custom kinds can demand. Others are ignored. */
import { isIP, isIPv4 } from 'node:net';
import { matchesAnywhere, regularExpression } from '../base/text/regular-expression.ts';

type Format = (text: string) => boolean;

/** Formats whose patterns cannot backtrack for long: their repetitions do not overlap. */
const pattern =
  (expression: RegExp): Format =>
  (text) =>
    expression.test(text);

const HOSTNAME =
  '^([a-zA-Z0-9\\p{S}\\p{L}]((-?[a-zA-Z0-9\\p{S}\\p{L}]{0,62})?)|([a-zA-Z0-9\\p{S}\\p{L}](([a-zA-Z0-9-\\p{S}\\p{L}]{0,61}[a-zA-Z0-9\\p{S}\\p{L}])?)(\\.)){1,}([a-zA-Z\\p{L}]){2,63})$';
const MAX_HOSTNAME_BYTES = 255;
const MAX_LABEL_CHARACTERS = 63;
const MAX_NAME_CHARACTERS = 253;

function isHostname(text: string): boolean {
  if (Buffer.byteLength(text) > MAX_HOSTNAME_BYTES) return false;
  if (text.split('.').some((label) => Buffer.byteLength(label) > MAX_LABEL_CHARACTERS)) return false;
  return matchesAnywhere(regularExpression(HOSTNAME), text);
}

function isCidr(text: string): boolean {
  const [address = '', bits = '', ...rest] = text.split('/');
  if (rest.length > 0 || !/^\d{1,3}$/.test(bits) || isIP(address) === 0) return false;
  return Number(bits) <= (isIPv4(address) ? 32 : 128);
}

function isUri(text: string): boolean {
  if (/[\s\p{Cc}]/u.test(text) || /%(?![0-9a-fA-F]{2})/.test(text)) return false;
  return text.startsWith('/') || /^[a-zA-Z][a-zA-Z0-9+.-]*:.+$/.test(text);
}

function isDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const time = Date.parse(`${text}T00:00:00Z`);
  return Number.isFinite(time) && new Date(time).toISOString().startsWith(text);
}

const DATE_TIME = /^(\d{4}-\d{2}-\d{2})[Tt ](\d{2}):(\d{2}):(\d{2})(\.\d{1,9})?([Zz]|[+-]\d{2}:\d{2})$/;

function isDateTime(text: string): boolean {
  const [, date = '', hours, minutes, seconds] = DATE_TIME.exec(text) ?? [];
  return isDate(date) && Number(hours) < 24 && Number(minutes) < 60 && Number(seconds) < 61;
}

const DURATION =
  /^[+-]?(\d+(\.\d*)?|\.\d+)\s*(ns|us|µs|μs|ms|s|m|h|d|w|nanoseconds?|microseconds?|milliseconds?|seconds?|minutes?|hours?|days?|weeks?)/;

function isDuration(text: string): boolean {
  if (text === '0') return true;
  let rest = text.trim();
  if (rest === '') return false;
  while (rest !== '') {
    const [part] = DURATION.exec(rest) ?? [];
    if (!part) return false;
    rest = rest.slice(part.length).trimStart();
  }
  return true;
}

function isBase64(text: string): boolean {
  return /^[A-Za-z0-9+/]*={0,2}$/.test(text) && text.length % 4 === 0;
}

function isIsbn10(text: string): boolean {
  const digits = text.replace(/[\s-]/g, '');
  if (!/^\d{9}[\dX]$/.test(digits)) return false;
  const sum = [...digits].reduce((total, digit, i) => total + (i + 1) * (digit === 'X' ? 10 : Number(digit)), 0);
  return sum % 11 === 0;
}

function isIsbn13(text: string): boolean {
  const digits = text.replace(/[\s-]/g, '');
  if (!/^\d{13}$/.test(digits)) return false;
  return [...digits].reduce((total, digit, i) => total + Number(digit) * (i % 2 === 0 ? 1 : 3), 0) % 10 === 0;
}

function isCreditCard(text: string): boolean {
  const digits = text.replace(/[^0-9]/g, '');
  return /^(?:4\d{12}(?:\d{3})?|5[1-5]\d{14}|6(?:011|5\d\d)\d{12}|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}|(?:2131|1800|35\d{3})\d{11})$/.test(
    digits,
  );
}

const SHORT_NAME = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/;

const formats: Readonly<Record<string, Format>> = {
  bsonobjectid: pattern(/^[0-9a-fA-F]{24}$/),
  uri: isUri,
  email: pattern(/^(?:[^<>@\s]+@[^<>@\s]+|.*<[^<>@\s]+@[^<>@\s]+>)$/),
  hostname: isHostname,
  ipv4: (text) => isIPv4(text),
  ipv6: (text) => isIP(text) === 6,
  cidr: isCidr,
  mac: pattern(
    /^(?:[0-9a-fA-F]{2}([:-])(?:[0-9a-fA-F]{2}\1){4,18}[0-9a-fA-F]{2}|(?:[0-9a-fA-F]{4}\.){2,9}[0-9a-fA-F]{4})$/,
  ),
  uuid: pattern(/^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i),
  uuid3: pattern(/^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i),
  uuid4: pattern(/^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i),
  uuid5: pattern(/^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i),
  isbn: (text) => isIsbn10(text) || isIsbn13(text),
  isbn10: isIsbn10,
  isbn13: isIsbn13,
  creditcard: isCreditCard,
  ssn: pattern(/^\d{3}[- ]?\d{2}[- ]?\d{4}$/),
  hexcolor: pattern(/^#?(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/),
  rgbcolor: pattern(
    /^rgb\((?:\s*(?:\d{1,2}|1\d\d|2[0-4]\d|25[0-5])\s*,){2}\s*(?:\d{1,2}|1\d\d|2[0-4]\d|25[0-5])\s*\)$/,
  ),
  byte: isBase64,
  password: () => true,
  date: isDate,
  duration: isDuration,
  datetime: isDateTime,
  'k8s-short-name': (text) => text.length <= MAX_LABEL_CHARACTERS && SHORT_NAME.test(text),
  'k8s-long-name': (text) =>
    text.length <= MAX_NAME_CHARACTERS && text.split('.').every((segment) => SHORT_NAME.test(segment)),
};

/** The check for a format; undefined for one that is not known. Dashes in its name do not matter. */
export function formatOf(name: string): Format | undefined {
  const known = name.startsWith('k8s-') ? name : name.replaceAll('-', '');
  return Object.hasOwn(formats, known) ? formats[known] : undefined;
}
