/** `qdfed status KIND NAME`: where a federated object is, and why. */
import { isApiError } from '../../api/errors.ts';
import type { AnyObject, DeepReadonly } from '../../api/object-types.ts';
import type { Client } from '../../client/client.ts';
import { type Explanation, explain } from '../../federation/plan/explain.ts';
import type { FederatedKind } from '../../federation/plan/kinds/federated-kind.ts';
import { federatedKinds } from '../../federation/plan/kinds/federated-kinds.ts';
import type { MemberState } from '../../federation/plan/plan-object.ts';
import { elapsed } from '../../kinds/columns/elapsed.ts';
import { HorizontalPodAutoscaler } from '../../kinds/groups/autoscaling/horizontal-pod-autoscaler.ts';
import { Event } from '../../kinds/groups/core/event/event.ts';
import { CliError } from '../output/cli-error.ts';
import { table } from '../output/table.ts';
import { federatedTypes } from './federate.ts';
import type { StatusFlags } from './flags.ts';
import { withContexts } from './members/contexts.ts';
import { openFederation } from './members/federation.ts';
import { type MemberAccess, readiness, withMembers } from './members/members.ts';
import { find } from './steps/ensure.ts';

const NONE = '-';

export async function status(word: string, name: string, flags: StatusFlags): Promise<void> {
  await withContexts(flags.kubeconfig, async (contexts) => {
    const opened = await openFederation(contexts, flags);
    const { client } = opened.federation;
    const kind = await kindCalled(client, word);
    const namespace = kind.kind.scope === 'Namespaced' ? flags.namespace : undefined;
    const object = await find(client, kind.kind, name, namespace);
    const title = `${kind.kind.kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`;
    if (!object) throw new CliError(`${title} does not exist in the federation ${opened.federationName}`);
    const rows = await withMembers(opened, async (members) => {
      const states = await Promise.all(members.map((member) => stateOf(member, kind, object)));
      const isAutoscaled = kind.replicas !== undefined && (await hasAutoscaler(client, object));
      return explain(object, { kind, members: states.map(({ state }) => state), isAutoscaled }).map((row, index) => ({
        ...row,
        problem: states[index]!.problem,
      }));
    });
    const errors = await lastErrors(client, object);
    const header = ['CLUSTER', 'STATE', 'DESIRED', 'ACTUAL', 'READY', 'OVERRIDES', 'WHY', 'LAST ERROR'];
    const lines = rows.map((row) => cellsOf(row, row.problem, errors));
    process.stdout.write(`${title}\n${table([header, ...lines]).join('\n')}\n`);
  });
}

/** Finds a kind by its name, plural, singular or short name, also kinds that FederatedTypes name. */
async function kindCalled(client: Client, word: string): Promise<FederatedKind> {
  const named = await federatedTypes({ client });
  const wanted = word.toLowerCase();
  const found = [...federatedKinds, ...named].find(({ kind: { kind, plural, singular, short, group } }) =>
    [kind.toLowerCase(), plural, singular, ...short, `${plural}.${group}`].includes(wanted),
  );
  if (!found) throw new CliError(`the federation propagates no kind "${word}"; see kubectl get federatedtypes`);
  return found;
}

interface SeenMember {
  readonly state: MemberState;
  readonly problem: string | undefined;
}

async function stateOf(
  { cluster, access, problem }: MemberAccess,
  { kind }: FederatedKind,
  { metadata: { name = '', namespace } }: DeepReadonly<AnyObject>,
): Promise<SeenMember> {
  const base = { name: cluster.metadata.name ?? '', labels: cluster.metadata.labels ?? {} };
  const { isReady, message } = readiness(cluster);
  const down = (why: string): SeenMember => ({ state: { ...base, health: 'down', object: undefined }, problem: why });
  if (!access) return down(problem ?? '');
  if (!isReady) return down(message);
  try {
    return { state: { ...base, health: 'ready', object: await find(access.client, kind, name, namespace) }, problem };
  } catch (error) {
    return down((error as Error).message);
  }
}

async function hasAutoscaler(client: Client, { kind, metadata }: DeepReadonly<AnyObject>): Promise<boolean> {
  const { items } = await client.of(HorizontalPodAutoscaler).in(metadata.namespace).list();
  return items.some(({ spec }) => spec.scaleTargetRef.kind === kind && spec.scaleTargetRef.name === metadata.name);
}

/** The last failure to propagate the object, by cluster; under the empty name, one of the object itself. */
async function lastErrors(
  client: Client,
  { kind, metadata }: DeepReadonly<AnyObject>,
): Promise<ReadonlyMap<string, string>> {
  const fieldSelector = `involvedObject.name=${metadata.name},reason=PropagationFailed`;
  const events = client.of(Event).in(metadata.namespace ?? 'default');
  const { items } = await events.list({ fieldSelector }).catch((error: unknown) => {
    if (isApiError(error, 'NotFound')) return { items: [] as never[] };
    throw error;
  });
  const own = items.filter(({ involvedObject }) => involvedObject.kind === kind);
  const timeOf = (event: (typeof own)[number]) => event.lastTimestamp ?? event.metadata.creationTimestamp ?? '';
  const last = own.sort((a, b) => (timeOf(a) < timeOf(b) ? 1 : -1))[0];
  if (!last) return new Map();
  const when = `${elapsed(timeOf(last), Date.now())} ago`;
  return new Map(
    (last.message ?? '').split('; ').map((part): [string, string] => {
      const [, cluster, message] = /^cluster (\S+): (.*)$/s.exec(part) ?? [];
      return cluster === undefined ? ['', `${part} (${when})`] : [cluster, `${message} (${when})`];
    }),
  );
}

function cellsOf(row: Explanation, problem: string | undefined, errors: ReadonlyMap<string, string>): string[] {
  const { cluster, state, desired, actual, ready, overrides, why } = row;
  const number = (value: number | undefined) => (value === undefined ? NONE : String(value));
  return [
    ...[cluster, state, number(desired), number(actual), number(ready), String(overrides), why],
    problem ?? errors.get(cluster) ?? errors.get('') ?? '',
  ];
}
