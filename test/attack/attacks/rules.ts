/** Definitions with hostile rules, and objects on which rules take long: each must cost its sender an error and others nothing. */
import type { Attack, AttackContext } from '../attack.ts';

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const GROUP = 'attack.example.com';
const OBJECTS = 20;

interface Rule {
  readonly rule: string;
}

const LIST = { type: 'array', items: { type: 'integer' } };

function define(admin: AttackContext['admin'], plural: string, properties: object, rules: readonly Rule[]) {
  const spec = { type: 'object', properties, 'x-kubernetes-validations': rules };
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec } } };
  const versions = [{ name: 'v1', served: true, storage: true, schema }];
  const names = { plural, kind: plural };
  const body = { metadata: { name: `${plural}.${GROUP}` }, spec: { group: GROUP, scope: 'Cluster', names, versions } };
  return admin.send('POST', DEFINITIONS, { body });
}

const times = (count: number, part: (i: number) => string) => Array.from({ length: count }, (_, i) => part(i)).join('');

export const hostileRules: Attack = {
  name: 'hostile rules of custom kinds',
  async run({ admin }) {
    const a = { a: { type: 'integer' } };
    await define(
      admin,
      'many',
      a,
      Array.from({ length: 10_000 }, (_, i) => ({ rule: `self.a > ${i}` })),
    );
    await define(admin, 'long', a, [{ rule: `self.a > 0${times(7_000, () => ' && self.a > 0')}` }]);
    await define(admin, 'deep', a, [{ rule: `${'('.repeat(49_000)}true${')'.repeat(49_000)}` }]);
    const nested = `${times(50, (i) => `self.list.all(x${i}, `)}true${')'.repeat(50)}`;
    await define(admin, 'nested', { list: LIST }, [{ rule: nested }]);
    const limited = { list: { ...LIST, maxItems: 1_000 } };
    await define(admin, 'slow', limited, [{ rule: 'self.list.all(x, self.list.all(y, x + y >= 0))' }]);
    const costly = [
      'self.list.all(x, self.list.all(y, timestamp("2024-01-01T00:00:00Z").getHours("Europe/Berlin") >= 0))',
      'self.list.all(x, self.list.all(y, self.list[-1] == 0 || x + y >= 0))',
      'self.list.all(x, self.list.all(y, semver("1.2.3").isLessThan(semver("1.2.4"))))',
    ];
    const few = { list: { ...LIST, maxItems: 400 } };
    await define(
      admin,
      'costly',
      few,
      costly.map((rule) => ({ rule })),
    );
    const list = Array.from({ length: 1_000 }, (_, i) => i);
    for (let i = 0; i < OBJECTS; i++) {
      const body = { apiVersion: `${GROUP}/v1`, kind: 'slow', metadata: { name: `slow-${i}` }, spec: { list } };
      await admin.send('POST', `/apis/${GROUP}/v1/slow`, { body });
    }
    const long = list.slice(0, 400);
    const writes = Array.from({ length: 4 }, (_, i) => ({
      ...{ apiVersion: `${GROUP}/v1`, kind: 'costly', metadata: { name: `costly-${i}` }, spec: { list: long } },
    }));
    await Promise.all(writes.map((body) => admin.send('POST', `/apis/${GROUP}/v1/costly`, { body })));
    for (const plural of ['many', 'long', 'deep', 'nested', 'slow', 'costly']) {
      await admin.send('DELETE', `${DEFINITIONS}/${plural}.${GROUP}`);
    }
  },
};
