/**
 * Measures the cost of tokens and roles: a get by a service account, with a signed token that is bound to it and rights
 * that come from a binding, beside the same get by a member of `system:masters` with a token from a file, which needs
 * no authorization. Both send as many bytes, and both go to one server: two that do the same differ by more than this
 * difference.
 */
import type { Agent } from 'node:https';
import { post } from './http.ts';
import { generate, type LoadOptions } from './load.ts';
import { cpuOf, type Program } from './programs.ts';

const MAPS = '/api/v1/namespaces/default/configmaps';
const ACCOUNTS = '/api/v1/namespaces/default/serviceaccounts';
const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const ROUNDS = 7;
/** Token as long as the other one. */
const SHORT = 'xxxxxxxxxxx';

/** Returns the additional processor time of a request, in per cent. */
export async function costOfRights(
  program: Program,
  options: LoadOptions & { readonly agent: Agent },
): Promise<number> {
  const token = await prepare(program, options.agent);
  const ratios: number[] = [];
  for (let round = 0; round <= ROUNDS; round++) {
    const asReader = await timeOfGet({ ...program, token }, SHORT, options);
    const asMaster = await timeOfGet(program, 'x'.repeat(token.length), options);
    // In the first round the program warms up.
    if (round > 0) ratios.push(asReader / asMaster);
  }
  return (ratios.sort((a, b) => a - b)[Math.floor(ROUNDS / 2)]! - 1) * 100;
}

/** The token of the account. */
async function prepare(program: Program, agent: Agent): Promise<string> {
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' };
  const subjects = [{ kind: 'ServiceAccount', name: 'reader', namespace: 'default' }];
  const binding = { metadata: { name: 'reader' }, roleRef, subjects };
  await post(program, `${RBAC}/namespaces/default/rolebindings`, JSON.stringify(binding), agent);
  await post(program, ACCOUNTS, JSON.stringify({ metadata: { name: 'reader' } }), agent);
  const data = { text: 'x'.repeat(2_000) };
  await post(program, MAPS, JSON.stringify({ metadata: { name: 'read' }, data }), agent);
  return JSON.parse(await post(program, `${ACCOUNTS}/reader/token`, '{}', agent)).status.token;
}

/** Seconds of the server's processor time. */
async function timeOfGet(program: Program, padding: string, options: LoadOptions): Promise<number> {
  const before = cpuOf(program.pid);
  const traffic = { type: 'read', path: `${MAPS}/read`, header: ['X-Padding', padding] } as const;
  const { perSecond, failed } = await generate(program, traffic, options);
  if (failed > 0) throw new Error(`${failed} requests of a user with rights failed`);
  return (cpuOf(program.pid) - before) / (perSecond * options.seconds);
}
