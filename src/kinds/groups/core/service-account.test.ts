import { expect, it } from 'vitest';
import { create, update } from '../../../../test/support/kinds/test-object.ts';
import { ServiceAccount } from './service-account.ts';

const metadata = { name: 'a', namespace: 'n' };

it('a ServiceAccount names its secrets and says no more of them', () => {
  const secrets = [{ name: 'x', namespace: 'elsewhere', kind: 'Secret' }, {}];
  const { object } = create(ServiceAccount, { metadata, secrets, imagePullSecrets: [{ name: 'y' }] });
  expect(object).toEqual({ metadata, secrets: [{ name: 'x' }, {}], imagePullSecrets: [{ name: 'y' }] });
  const changed = update(ServiceAccount, object, { metadata, secrets: [{ name: 'z', uid: 'u' }] });
  expect(changed.object.secrets).toEqual([{ name: 'z' }]);
});
