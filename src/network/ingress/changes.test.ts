import { expect, it } from 'vitest';
import { NEVER_SPENT } from '../../../test/support/divided-work.ts';
import { fc, forAll } from '../../../test/support/property-runs.ts';
import { type ConfigChange, ConfigReplica, changesBetween, MAX_PART } from './changes.ts';
import { EMPTY_CONFIG, type IngressConfig, type PathRule } from './config.ts';

function partsOf(before: IngressConfig, after: IngressConfig, pace = NEVER_SPENT): (readonly ConfigChange[])[] {
  const changes = changesBetween(before, after, pace);
  const parts: (readonly ConfigChange[])[] = [];
  for (;;) {
    const { value, done } = changes.next();
    parts.push(value);
    if (done) return parts;
  }
}

/** Delivers changes as a channel does. */
function send(replica: ConfigReplica, parts: readonly (readonly ConfigChange[])[]): void {
  for (const [index, part] of parts.entries()) replica.take(structuredClone(part), index === parts.length - 1);
}

const rulesTo = (count: number, backend = 'web'): PathRule[] =>
  Array.from({ length: count }, (_, index) => ({ path: `/${index}`, type: 'Prefix', backend }));

it('a replica becomes what the config is', () => {
  const name = fc.constantFrom('a', 'b', 'c');
  const host = fc.tuple(name, fc.constantFrom(0, 1, 2, MAX_PART, MAX_PART + 1, 2 * MAX_PART + 1));
  const config = fc
    .record({
      hosts: fc.array(host, { maxLength: 3 }),
      owners: fc.array(fc.tuple(name, name), { maxLength: 3 }),
      backends: fc.array(fc.tuple(name, fc.nat(3)), { maxLength: 3 }),
      defaultBackend: fc.option(name, { nil: undefined }),
      certificates: fc.array(fc.record({ hosts: fc.array(name), cert: name, key: name }), { maxLength: 4 }),
    })
    .map(
      ({ hosts, owners, backends, ...rest }): IngressConfig => ({
        ...rest,
        owners: new Map(owners),
        hosts: new Map(hosts.map(([key, count]) => [key, rulesTo(count)])),
        backends: new Map(
          backends.map(([key, count]) => [key, Array.from({ length: count }, (_, port) => ({ address: key, port }))]),
        ),
      }),
    );
  forAll({ numRuns: 50 }, fc.array(config, { maxLength: 4 }), fc.boolean(), (configs, isSpent) => {
    const replica = new ConfigReplica();
    let before = EMPTY_CONFIG;
    for (const after of configs) {
      send(replica, partsOf(before, after, { isSpent: () => isSpent }));
      expect(replica.config).toEqual(after);
      before = after;
    }
  });
});

it('nothing changes before the last part is here', () => {
  const replica = new ConfigReplica();
  const parts = partsOf(EMPTY_CONFIG, { ...EMPTY_CONFIG, hosts: new Map([['a', rulesTo(5 * MAX_PART)]]) });
  expect(parts.length).toBeGreaterThan(4);
  for (const part of parts.slice(0, -1)) replica.take(part, false);
  expect(replica.config).toEqual(EMPTY_CONFIG);
  replica.take(parts.at(-1)!, true);
  expect(replica.config.hosts.get('a')).toHaveLength(5 * MAX_PART);
});

it('no part has much more than its share', () => {
  const backends = new Map(rulesTo(5_000).map(({ path }) => [path, [{ address: '10.0.0.1', port: 80 }]]));
  const hosts = new Map([
    ['one', rulesTo(10_500)],
    ...rulesTo(5_000).map(({ path }): [string, PathRule[]] => [path, rulesTo(1)]),
  ]);
  const parts = partsOf(EMPTY_CONFIG, { ...EMPTY_CONFIG, hosts, backends });
  const rules = (part: readonly ConfigChange[]) =>
    part.map((change) => (change.type === 'rules' ? change.rules.length : 1)).reduce((sum, each) => sum + each, 0);
  expect(Math.max(...parts.map(rules))).toBeLessThanOrEqual(2 * MAX_PART);
  expect(parts.flat().length).toBeGreaterThan(10_000);
});

it('only what differs is sent', () => {
  const before: IngressConfig = {
    ...EMPTY_CONFIG,
    hosts: new Map([
      ['a', rulesTo(5_000)],
      ['b', rulesTo(5_000)],
    ]),
    backends: new Map([['web', [{ address: '10.0.0.1', port: 80 }]]]),
  };
  const backends = new Map([...before.backends, ['more', []]]);
  expect(partsOf(before, { ...before, backends })).toEqual([[{ type: 'backend', key: 'more', addresses: [] }]]);
  const hosts = new Map([...before.hosts, ['b', rulesTo(1)]] as const);
  expect(partsOf(before, { ...before, hosts })).toEqual([
    [{ type: 'rules', host: 'b', rules: rulesTo(1), isMore: false }],
  ]);
  expect(partsOf(before, { ...before })).toEqual([[]]);
});

it('a pair that many certificates have is sent once', () => {
  const certificates = rulesTo(50).map(({ path }) => ({ hosts: [path], cert: 'C', key: 'K' }));
  const changes = partsOf(EMPTY_CONFIG, { ...EMPTY_CONFIG, certificates }).flat();
  expect(changes.filter(({ type }) => type === 'pair')).toHaveLength(1);
  expect(changes.filter(({ type }) => type === 'certificate')).toHaveLength(50);
});

it('pauses among items that are the same', () => {
  const items = (): IngressConfig => ({ ...EMPTY_CONFIG, hosts: new Map(hosts) });
  const hosts = rulesTo(100).map(({ path }): [string, PathRule[]] => [path, rulesTo(1)]);
  const parts = partsOf(items(), items(), { isSpent: () => true });
  expect(parts.length).toBeGreaterThan(100);
  expect(parts.flat()).toEqual([]);
});
