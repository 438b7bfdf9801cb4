/** Deletes expired bootstrap tokens. */
import type { DeepReadonly } from '../../../api/object-types.ts';
import { Secret } from '../../../kinds/groups/core/configuration/secret.ts';
import { Namespace } from '../../../kinds/groups/core/namespace.ts';
import { type Controller, defineController, type Listers, related } from '../../loop/define.ts';
import { type Plan, remove, requeueAfter } from '../../loop/plan.ts';
import { expiryOf, isBootstrapSecret, NAMESPACE } from './token-secret.ts';

export const tokenCleaningController: Controller = defineController({
  name: 'token-cleaning',
  account: 'token-cleaner',
  watches: Namespace,
  also: [related(Secret, (secret) => (isBootstrapSecret(secret) ? [NAMESPACE] : []))],
  plan: (namespace, world, now) => planTokenCleaning(namespace, world, now.getTime()),
});

export function planTokenCleaning(namespace: DeepReadonly<Namespace> | undefined, world: Listers, now: number): Plan {
  if (namespace?.metadata.name !== NAMESPACE) return [];
  const secrets = world
    .of(Secret)
    .list(NAMESPACE)
    .filter((secret) => isBootstrapSecret(secret) && !secret.metadata.deletionTimestamp);
  const over = secrets.filter((secret) => expiryOf(secret) <= now);
  const next = Math.min(...secrets.map(expiryOf).filter((expiry) => expiry > now));
  return [
    ...over.map((secret) => remove(Secret, secret)),
    ...(Number.isFinite(next) ? [requeueAfter(next - now)] : []),
  ];
}
