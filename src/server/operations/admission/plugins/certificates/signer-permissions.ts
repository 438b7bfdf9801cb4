import type { User } from '../../../../../api/user.ts';
import type { Decision } from '../../../../access/authz/authorizer.ts';
import type { Access } from '../../../../access/ports.ts';

type Ports = Pick<Access, 'authorizer'>;

/**
 * Reports whether a user may approve or sign for a signer. The permission for `example.com/*` covers all signers of the
 * domain.
 */
export function mayActForSigner(core: Ports, user: User, verb: string, signer: string): boolean | Promise<boolean> {
  const [domain = ''] = signer.split('/');
  const exact = ask(core, user, verb, signer);
  if (exact instanceof Promise) {
    return exact.then(async (decision) => isAllowed(decision) || isAllowed(await ask(core, user, verb, `${domain}/*`)));
  }
  if (isAllowed(exact)) return true;
  const whole = ask(core, user, verb, `${domain}/*`);
  return whole instanceof Promise ? whole.then(isAllowed) : isAllowed(whole);
}

const isAllowed = ({ verdict }: Decision): boolean => verdict === 'allow';

function ask({ authorizer }: Ports, user: User, verb: string, name: string): Decision | Promise<Decision> {
  const signers = { group: 'certificates.k8s.io', version: '*', resource: 'signers', subresource: '', namespace: '' };
  return authorizer.authorize({ user, verb, name, ...signers });
}
