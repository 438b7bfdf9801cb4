/**
 * Measures what an admission policy adds to a create: in this process, on a store in memory, with and without the
 * binding of a policy of five expressions that all creates match. Rounds with and without it alternate; the figure is
 * the median of their differences.
 */
import { systemClock } from '../src/base/time/clock.ts';
import { type Client, createClient } from '../src/client/client.ts';
import { directTransport } from '../src/client/transport/direct-transport.ts';
import { allKinds } from '../src/kinds/all.ts';
import { Namespace } from '../src/kinds/groups/core/namespace.ts';
import { Pod } from '../src/kinds/groups/core/pod/pod.ts';
import { ValidatingAdmissionPolicy } from '../src/kinds/groups/extension/admissionregistration/policies/validating-admission-policy.ts';
import { ValidatingAdmissionPolicyBinding } from '../src/kinds/groups/extension/admissionregistration/policies/validating-admission-policy-binding.ts';
import { createServer } from '../src/server/index.ts';
import { namespaceLifecycle } from '../src/server/operations/admission/plugins/namespace-lifecycle/namespace-lifecycle.ts';
import { validatingAdmissionPolicy } from '../src/server/operations/admission/policies/validating.ts';
import { MemoryStore } from '../src/store/memory/memory-store.ts';
import { smallPod } from './bodies.ts';
import { median } from './documents.ts';

const ADMIN = { name: 'admin', groups: ['system:masters'] };
const ROUNDS = 15;
const CREATES = 2_000;

const EXPRESSIONS = [
  "object.metadata.name.size() <= 63 && object.metadata.namespace == 'bench'",
  "object.spec.containers.all(c, c.image.contains(':') && !c.image.endsWith(':latest'))",
  "!has(object.spec.hostNetwork) || request.userInfo.username.startsWith('system:')",
  'variables.count < 10 && has(object.metadata.labels)',
  "request.operation == 'CREATE' && namespaceObject.metadata.name == 'bench'",
];

/** Microseconds. */
export async function costOfPolicy(): Promise<number> {
  const store = new MemoryStore({ clock: systemClock });
  const server = await createServer({
    store,
    kinds: allKinds,
    clock: systemClock,
    admission: [namespaceLifecycle, validatingAdmissionPolicy],
  });
  const client = createClient(directTransport(server.direct(ADMIN)));
  try {
    await prepare(client);
    const differences: number[] = [];
    for (let round = 0; round <= ROUNDS; round++) {
      const without = await timeOfCreate(client, `without-${round}`);
      await client.of(ValidatingAdmissionPolicyBinding).create({
        metadata: { name: 'limits' },
        spec: { policyName: 'limits', validationActions: ['Deny'] },
      });
      const withPolicy = await timeOfCreate(client, `with-${round}`);
      await client.of(ValidatingAdmissionPolicyBinding).delete('limits');
      // In the first round the code is compiled.
      if (round > 0) differences.push(withPolicy - without);
    }
    return median(differences);
  } finally {
    server.close();
    await store.close();
  }
}

async function prepare(client: Client): Promise<void> {
  await client.of(Namespace).create({ metadata: { name: 'bench' } });
  const rule = {
    operations: ['CREATE'],
    apiGroups: [''],
    apiVersions: ['v1'],
    resources: ['pods'],
    scope: '*' as const,
  };
  await client.of(ValidatingAdmissionPolicy).create({
    metadata: { name: 'limits' },
    spec: {
      matchConstraints: { resourceRules: [rule] },
      variables: [{ name: 'count', expression: 'object.spec.containers.size()' }],
      validations: EXPRESSIONS.map((expression) => ({ expression })),
    },
  } as never);
}

/** Microseconds of processor time. */
async function timeOfCreate(client: Client, prefix: string): Promise<number> {
  const pods = client.of(Pod).in('bench');
  const bodies = Array.from({ length: CREATES }, (_, index) => smallPod(`${prefix}-${index}`) as never);
  const before = process.cpuUsage();
  for (const body of bodies) await pods.create(body, { dryRun: ['All'] } as never);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / CREATES;
}
