import type { Attack } from '../attack.ts';

const ROLES = '/apis/rbac.authorization.k8s.io/v1/namespaces/tenant/roles';
const EACH = 500;

/** Attacks the escalation check, which compares the rights of a role with those of its author. */
export const bigRole: Attack = {
  name: 'big role',
  async run({ tenant }) {
    const names = (prefix: string) => Array.from({ length: EACH }, (_, i) => `${prefix}-${i}`);
    const cross = { apiGroups: names('group'), resources: names('resource'), verbs: names('verb') };
    await tenant.send('POST', ROLES, { body: { metadata: { name: 'cross' }, rules: [cross] } });
    const one = { apiGroups: [''], resources: ['pods'], verbs: ['get'] };
    const rules = Array.from({ length: 40_000 }, () => one);
    await tenant.send('POST', ROLES, { body: { metadata: { name: 'long' }, rules } });
    await tenant.send('DELETE', `${ROLES}/long`);
  },
};

const ODD_NAMES = ['a\nb', 'a\0b', 'a\tb', 'a%2fb', '..', '.', 'a/b', '\u202e', ' ', 'a b', '\ud800'];

/** Names that can be stored must be reachable by a path, too. */
export const oddRoleNames: Attack = {
  name: 'odd role names',
  async run({ tenant }) {
    for (const name of ODD_NAMES) {
      const { code } = await tenant.send('POST', ROLES, { body: { metadata: { name } } });
      if (code !== 200) continue;
      const deleted = await tenant.send('DELETE', `${ROLES}/${encodeURIComponent(name)}`);
      if (deleted.code !== 200) throw new Error(`${JSON.stringify(name)} was created and cannot be deleted`);
    }
  },
};
