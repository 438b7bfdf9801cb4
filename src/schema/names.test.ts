import { describe, expect, it } from 'vitest';
import {
  cIdentifier,
  configMapKey,
  dns1035Label,
  dnsLabel,
  dnsSubdomain,
  domainPrefixedPath,
  envVarName,
  httpHeaderName,
  inRange,
  labelValue,
  nameRule,
  pathSegment,
  pathSegmentName,
  percent,
  portName,
  portNumber,
  qualifiedName,
} from './names.ts';

const checks = {
  cIdentifier,
  configMapKey,
  dns1035Label,
  dnsLabel,
  dnsSubdomain,
  domainPrefixedPath,
  envVarName,
  httpHeaderName,
  labelValue,
  pathSegment,
  percent,
  portName,
  qualifiedName,
};

const label =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const subdomain =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const part =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

it.each([
  ['dnsLabel', ['a', '0-9', 'a'.repeat(63)]],
  ['dnsSubdomain', ['a.b.c', `${'a'.repeat(250)}.cc`]],
  ['dns1035Label', ['a', 'a-1']],
  ['qualifiedName', ['a', 'A_b.c', 'example.com/Name', `a/${'x'.repeat(63)}`]],
  ['labelValue', ['', 'a', 'A_b.c-d']],
  ['cIdentifier', ['_', 'A_1']],
  ['configMapKey', ['a', '.a', 'A_b-c.d', '__proto__']],
  ['portName', ['http', 'a-1']],
  ['envVarName', ['A', 'a.b-c', 'with space', '1', '$x']],
  ['httpHeaderName', ['X-Header']],
  ['percent', ['0%', '100%']],
  ['pathSegment', ['a', '', 'A:b_c']],
  ['domainPrefixedPath', ['acme.io/foo', 'acme.io/a/b']],
] as const)('what fits: %s says nothing', (check, texts) => {
  for (const text of texts) expect(checks[check](text)).toEqual([]);
});

describe('what does not', () => {
  it.each<[keyof typeof checks, string, string[]]>([
    ['dnsLabel', 'A_b', [label]],
    ['dnsLabel', 'a.b', ['must not contain dots']],
    ['dnsLabel', 'a'.repeat(64), ['must be no more than 63 characters']],
    ['dnsSubdomain', 'Bad_Name', [subdomain]],
    ['dnsSubdomain', `${'a'.repeat(254)}`, ['must be no more than 253 characters']],
    ['qualifiedName', '', ['name part must be non-empty', `name part ${part}`]],
    ['qualifiedName', '/a', ['prefix part must be non-empty']],
    ['qualifiedName', 'A/a', [`prefix part ${subdomain}`]],
    ['qualifiedName', 'a/', ['name part must be non-empty', `name part ${part}`]],
    ['qualifiedName', 'x'.repeat(64), ['name part must be no more than 63 bytes']],
    ['qualifiedName', `${'a'.repeat(254)}/a`, ['prefix part must be no more than 253 bytes']],
    [
      'qualifiedName',
      'a/b/c',
      [`a valid label key ${part} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`],
    ],
    [
      'labelValue',
      'a b',
      [
        "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
      ],
    ],
    [
      'configMapKey',
      'a b',
      [
        "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')",
      ],
    ],
    ['configMapKey', '.', ["must not be '.'"]],
    ['configMapKey', '..', ["must not be '..'"]],
    ['configMapKey', '..a', ["must not start with '..'"]],
    ['portName', '1', ['must contain at least one letter (a-z)']],
    ['portName', 'a--b', ['must not contain consecutive hyphens']],
    ['portName', '-a', ['must not begin or end with a hyphen']],
    ['portName', 'a'.repeat(16), ['must be no more than 15 characters']],
    ['envVarName', '', ['environment variable name must be non-empty']],
    [
      'envVarName',
      'a=b',
      ["a valid environment variable name must consist only of printable ASCII characters other than '='"],
    ],
    [
      'percent',
      'lots',
      [
        "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')",
      ],
    ],
    ['pathSegment', '..', ["may not be '..'"]],
    ['pathSegment', 'a/%', ["may not contain '/'", "may not contain '%'"]],
    ['domainPrefixedPath', 'acme', ['must be a domain-prefixed path (such as "acme.io/foo")']],
  ])('%s of %j is said', (check, text, complaints) => {
    expect(checks[check](text)).toEqual(complaints);
  });

  it('counts bytes, not characters', () => {
    expect(labelValue('é'.repeat(40))[0]).toBe('must be no more than 63 bytes');
    expect(dnsLabel('é'.repeat(40))[0]).toBe('must be no more than 63 characters');
  });

  it('is found in linear time', () => {
    const long = `${'a-'.repeat(200_000)}!`;
    for (const check of [dnsLabel, dnsSubdomain, dns1035Label, qualifiedName, labelValue, configMapKey, portName]) {
      expect(check(long)).not.toEqual([]);
    }
  });
});

it('numbers of ports and other ranges have both ends in the message', () => {
  expect(portNumber(0)).toEqual(['must be between 1 and 65535, inclusive']);
  expect(portNumber(65535)).toEqual([]);
  expect(inRange(3, 1, 2)).toEqual(['must be between 1 and 2, inclusive']);
});

it('a rule for names lets a prefix end with a dash, and a name not', () => {
  const rule = nameRule(dnsSubdomain);
  expect(rule('web-', true)).toEqual([]);
  expect(rule('web-', false)).toEqual([subdomain]);
  expect(rule('-', true)).toEqual([subdomain]);
});

it('a rule for names for names that are only path segments lets a prefix be dots', () => {
  expect(pathSegmentName('..', true)).toEqual([]);
  expect(pathSegmentName('..', false)).toEqual(["may not be '..'"]);
});
