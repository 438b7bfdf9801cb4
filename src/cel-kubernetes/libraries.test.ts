import { describe, expect, it } from 'vitest';
import { CostLimitError, compile, EvaluationError } from '../cel/program.ts';
import { STRING } from '../cel/types/type.ts';
import { AUTHORIZER_TYPE, AuthorizerValue } from './authorizer.ts';
import { kubernetesEnvironment } from './environment.ts';

const run = (source: string) => compile(source, kubernetesEnvironment()).evaluate({});

function failureOf(source: string): string {
  try {
    run(source);
  } catch (error) {
    if (error instanceof EvaluationError) return error.message;
    throw error;
  }
  return 'none';
}

const TRUE: Readonly<Record<string, readonly string[]>> = {
  quantities: [
    `quantity('1.5Gi') == quantity('1536Mi')`,
    `quantity('200M').compareTo(quantity('0.2G')) == 0`,
    `quantity('50k').add(20).sub(quantity('100k')).sub(-50000) == quantity('20')`,
    `quantity('50Mi').isGreaterThan(quantity('50M')) && quantity('50M').isLessThan(quantity('50Mi'))`,
    `quantity('50k').asInteger() == 50000 && quantity('-1').sign() == -1`,
    `!quantity('9999999999999999999999999999999999999G').isInteger() && !quantity('1500m').isInteger()`,
    `quantity('50k').sub(20000).asApproximateFloat() == 30000.0`,
    `quantity('Mi') == quantity('0') && isQuantity('Mi') && !isQuantity('Pi')`,
    `isQuantity('1.3Gi') && !isQuantity('1,3G') && !isQuantity('Three')`,
  ],
  addresses: [
    `ip('10.0.0.1').family() == 4 && ip('::1').family() == 6`,
    `ip('2001:DB8::0:1') == ip('2001:db8::1') && string(ip('2001:DB8:0:0:1::0:1')) == '2001:db8::1:0:0:1'`,
    `ip.isCanonical('2001:db8::1') && !ip.isCanonical('2001:DB8::1')`,
    `ip('127.0.0.1').isLoopback() && ip('0.0.0.0').isUnspecified() && ip('224.0.0.1').isLinkLocalMulticast()`,
    `ip('fe80::1').isLinkLocalUnicast() && ip('8.8.8.8').isGlobalUnicast() && !ip('255.255.255.255').isGlobalUnicast()`,
    `isIP('::ffff:0:1:2') && !isIP('010.0.0.1') && !isIP('::ffff:1.2.3.4') && !isIP('fe80::1%eth0')`,
    `cidr('192.168.0.0/16').containsIP('192.168.3.4') && !cidr('192.168.0.0/16').containsIP(ip('10.0.0.1'))`,
    `cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16') && !cidr('10.1.0.0/16').containsCIDR(cidr('10.0.0.0/8'))`,
    `string(cidr('10.1.2.3/8').masked()) == '10.0.0.0/8' && cidr('10.1.2.3/8').ip() == ip('10.1.2.3')`,
    `cidr('::/0').prefixLength() == 0 && !isCIDR('10.0.0.0/33') && !isCIDR('10.0.0.0')`,
  ],
  urls: [
    `url('https://user:pass@example.com:8080/a%20b?x=1&x=2&y#z').getHost() == 'example.com:8080'`,
    `url('https://[::1]:80/').getHostname() == '::1' && url('https://[::1]:80/').getPort() == '80'`,
    `url('https://example.com/a%20b').getEscapedPath() == '/a%20b' && url('https://example.com/a b').getEscapedPath() == '/a%20b'`,
    `url('https://example.com/?x=1&x=2&y').getQuery() == {'x': ['1', '2'], 'y': ['']}`,
    `url('/path').getScheme() == '' && url('/path').getPort() == ''`,
    `isURL('https://example.com') && !isURL('example.com/x') && !isURL('https://a b.com') && !isURL('')`,
  ],
  'regular expressions': [
    `'abc 123'.find('[0-9]+') == '123' && 'abc'.find('[0-9]+') == ''`,
    `'123 abc 456'.findAll('[0-9]+') == ['123', '456'] && '1 2 3'.findAll('[0-9]', 2) == ['1', '2']`,
  ],
  formats: [
    `!format.dns1123Label().validate('my-label').hasValue()`,
    `format.dns1123Label().validate('My_Label').value().size() == 1`,
    `format.named('dns1035Label').hasValue() && !format.named('other').hasValue()`,
    `!format.dns1123LabelPrefix().validate('my-label-').hasValue()`,
    `format.uuid().validate('x').value() == ['does not match the UUID format']`,
    `!format.datetime().validate('2021-01-01T00:00:00Z').hasValue() && !format.byte().validate('aGVsbG8=').hasValue()`,
  ],
  versions: [
    `semver('1.2.3').isLessThan(semver('1.10.0')) && semver('1.0.0-alpha.1').isLessThan(semver('1.0.0'))`,
    `semver('1.0.0-alpha.2').compareTo(semver('1.0.0-alpha.10')) == -1 && semver('1.2.3+a') == semver('1.2.3+b')`,
    `semver('v01.2', true) == semver('1.2.0') && isSemver('v1.0', true) && !isSemver('v1.0.0')`,
    `semver('1.2.3').major() == 1 && semver('1.2.3').minor() == 2 && semver('1.2.3').patch() == 3`,
    `!isSemver('01.2.3') && !isSemver('1.2') && !isSemver('1.2.3-') && isSemver('1.2.3-rc.1+build.5')`,
  ],
  lists: [
    `[1, 2, 3].sum() == 6 && [1.5, 2.5].sum() == 4.0 && [duration('1m'), duration('1s')].sum() == duration('61s')`,
    `[1, 2, 2].isSorted() && !['b', 'a'].isSorted() && [].sum() == 0`,
    `[3, 1, 2].min() == 1 && ['a', 'c', 'b'].max() == 'c'`,
    `[1, 2, 2, 3].indexOf(2) == 1 && [1, 2, 2, 3].lastIndexOf(2) == 2 && [1].indexOf(5) == -1`,
  ],
};

describe.each(Object.entries(TRUE))('functions of %s', (_name, sources) => {
  it.each(sources)('%s', (source) => {
    expect(run(source)).toBe(true);
  });
});

it.each([
  [`quantity('Three')`, 'quantities must match the regular expression'],
  [`quantity('1.5').asInteger()`, 'cannot convert value to integer'],
  [`ip('x')`, 'IP Address "x" parse error during conversion from string: ParseAddr("x"): unable to parse IP'],
  [`ip('::ffff:1.2.3.4')`, 'IPv4-mapped IPv6 address "::ffff:1.2.3.4" is not allowed'],
  [`cidr('10.0.0.0')`, `netip.ParsePrefix("10.0.0.0"): no '/'`],
  [`url('x')`, 'URL parse error during conversion from string: parse "x": invalid URI for request'],
  [`'a'.find('(')`, 'Illegal regex: error parsing regexp: missing closing )'],
  [`semver('1.2')`, 'No Major.Minor.Patch elements found'],
  [`[].max() == 1`, 'max called on empty list'],
])('%s fails with the words of Kubernetes', (source, words) => {
  expect(failureOf(source)).toContain(words);
});

it('the library does not collect an unlimited number of matches', () => {
  const environment = kubernetesEnvironment().extend({ variables: { text: STRING } });
  const program = compile(`text.findAll('a').size()`, environment);
  expect(program.evaluate({ text: 'a'.repeat(50_000) })).toBe(50_000);
  expect(() => program.evaluate({ text: 'a'.repeat(50_001) })).toThrow('more than 50000 matches');
});

it('the library does not look at the rest of a long text for each match', () => {
  const environment = kubernetesEnvironment().extend({ variables: { text: STRING } });
  const program = compile(`text.findAll('a.*[xy]|a').size()`, environment);
  expect(program.evaluate({ text: 'a'.repeat(100) })).toBe(100);
  expect(() => program.evaluate({ text: 'a'.repeat(5_000) })).toThrow(
    'the text is too long for the regular expression',
  );
});

it('reads a query in which a parameter is repeated very often', () => {
  const environment = kubernetesEnvironment().extend({ variables: { text: STRING } });
  const program = compile(`url(text).getQuery()['a'].size()`, environment);
  expect(program.evaluate({ text: `/?${'a&'.repeat(300_000)}` })).toBe(300_000);
});

it('compares numbers of versions, however long they are', () => {
  const long = '9'.repeat(2_000);
  expect(run(`semver('1.0.0-1${long}').isGreaterThan(semver('1.0.0-${long}'))`)).toBe(true);
  expect(run(`semver('1.0.0-${long}').isLessThan(semver('1.0.0-a'))`)).toBe(true);
});

it.each([
  'lists.range(20000).all(i, url(text).getPort() == "")',
  '[url(text)].all(u, lists.range(20000).all(i, u.getQuery().size() == 0))',
  'lists.range(20000).all(i, isURL(text))',
  '[semver(version)].all(v, lists.range(20000).all(i, v.compareTo(v) == 0))',
  'lists.range(20000).map(i, text).max()',
  `[[[]]${'.map(x, [x, x])'.repeat(40)}].indexOf([])`,
])('%s costs what it reads', (source) => {
  const environment = kubernetesEnvironment().extend({ variables: { text: STRING, version: STRING } });
  const variables = { text: `/${'a'.repeat(100_000)}`, version: `1.0.0-${'a.'.repeat(20_000)}a` };
  expect(() => compile(source, environment).evaluate(variables)).toThrow(CostLimitError);
});

it('asks who may do what', () => {
  const asked: unknown[] = [];
  const authorizer = new AuthorizerValue((question, user) => {
    asked.push([question, user?.name]);
    return { allowed: user !== undefined, reason: 'because' };
  });
  const environment = kubernetesEnvironment().extend({ variables: { authorizer: AUTHORIZER_TYPE } });
  const ask = (source: string) => compile(source, environment).evaluate({ authorizer });
  const pods = `group('').resource('pods').namespace('a').name('b').subresource('log')`;
  expect(ask(`authorizer.${pods}.check('get').allowed()`)).toBe(false);
  expect(ask(`authorizer.serviceAccount('a', 'b').path('/healthz').check('get').allowed()`)).toBe(true);
  expect(ask(`authorizer.path('/x').check('get').reason()`)).toBe('because');
  expect(asked.slice(0, 2)).toEqual([
    [{ verb: 'get', group: '', resource: 'pods', namespace: 'a', name: 'b', subresource: 'log' }, undefined],
    [{ verb: 'get', path: '/healthz' }, 'system:serviceaccount:a:b'],
  ]);
});
