/** Policies whose expressions grow, search, compare and convert without end: each must cost its author an error. */
import type { Attack, AttackContext } from '../attack.ts';

const REGISTRATION = '/apis/admissionregistration.k8s.io/v1';
const MAPS = '/api/v1/namespaces/default/configmaps';

const doubled = (start: string, times: number) => `[${start}]${'.map(x, [x, x])'.repeat(times)}`;

/** Expressions, and the text that they read. */
const EXPRESSIONS: readonly (readonly [expression: string, text: string])[] = [
  [`${doubled('1', 40)} == ${doubled('1', 40)}`, ''],
  [`'%s'.format([${doubled('1', 40)}]) == ''`, ''],
  [`[lists.range(1000)]${'.map(x, x + x)'.repeat(20)}.size() == 0`, ''],
  ['lists.range(1000).map(i, "aaaaaaaaa".replace("a", object.data.text)).size() == 0', 'a'.repeat(1_000_000)],
  ['lists.range(20000).map(i, object.data.text).join().size() == 0', 'a'.repeat(1_000_000)],
  ['object.data.text.lastIndexOf(object.data.text.substring(0, 300000) + "b") == 1', 'a'.repeat(1_000_000)],
  ['lists.range(1000).all(i, double(object.data.text) > 1.0)', `${'1'.repeat(100_000)}x`],
  ['duration(object.data.text) == duration("1s")', '1'.repeat(100_000)],
  ['url(object.data.text).getQuery().size() == 0', `/?${'a&'.repeat(400_000)}`],
];

async function enforce(admin: AttackContext['admin'], expression: string): Promise<void> {
  const rule = { operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] };
  const spec = { matchConstraints: { resourceRules: [rule] }, validations: [{ expression }] };
  await admin.send('POST', `${REGISTRATION}/validatingadmissionpolicies`, { body: { metadata: { name: 'p' }, spec } });
  const bound = { policyName: 'p', validationActions: ['Deny'] };
  await admin.send('POST', `${REGISTRATION}/validatingadmissionpolicybindings`, {
    body: { metadata: { name: 'p' }, spec: bound },
  });
}

export const hostilePolicies: Attack = {
  name: 'hostile expressions of policies',
  async run({ admin }) {
    for (const [expression, text] of EXPRESSIONS) {
      await enforce(admin, expression);
      await admin.send('POST', MAPS, { body: { metadata: { generateName: 'a-' }, data: { text } } });
      await admin.send('DELETE', `${REGISTRATION}/validatingadmissionpolicybindings/p`);
      await admin.send('DELETE', `${REGISTRATION}/validatingadmissionpolicies/p`);
    }
  },
};
