/** What roles cost: a get by a user whose rights come from a binding, beside a server that allows everybody everything. */
import type { Agent } from 'node:https';
import { post } from './http.ts';
import { generate, type LoadOptions } from './load.ts';
import { cpuOf, type Program, READER_TOKEN } from './programs.ts';

const MAPS = '/api/v1/namespaces/default/configmaps';
const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const ROUNDS = 5;

/** How much more processor time a request takes, in per cent. Both servers run in turn, so that both have the same luck. */
export async function costOfRights(
  start: (name: string, flags: readonly string[]) => Promise<Program>,
  options: LoadOptions & { readonly agent: Agent },
): Promise<number> {
  const strict = await start('rights', []);
  const open = await start('no-rights', ['--authorization-mode', 'AlwaysAllow']);
  try {
    for (const program of [strict, open]) await prepare(program, options.agent);
    const ratios: number[] = [];
    for (let round = 0; round <= ROUNDS; round++) {
      const ratio = (await timeOfGet(strict, options)) / (await timeOfGet(open, options));
      // In the first round the programs warm up.
      if (round > 0) ratios.push(ratio);
    }
    return (ratios.sort((a, b) => a - b)[Math.floor(ROUNDS / 2)]! - 1) * 100;
  } finally {
    await Promise.all([strict.stop(), open.stop()]);
  }
}

async function prepare(program: Program, agent: Agent): Promise<void> {
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' };
  const binding = { metadata: { name: 'reader' }, roleRef, subjects: [{ kind: 'User', name: 'reader' }] };
  await post(program, `${RBAC}/namespaces/default/rolebindings`, JSON.stringify(binding), agent);
  const data = { text: 'x'.repeat(2_000) };
  await post(program, MAPS, JSON.stringify({ metadata: { name: 'read' }, data }), agent);
}

/** Seconds of the server's processor time. */
async function timeOfGet(program: Program, options: LoadOptions): Promise<number> {
  const before = cpuOf(program.pid);
  const target = { ...program, token: READER_TOKEN };
  const began = performance.now();
  const { perSecond, failed } = await generate(target, { type: 'read', path: `${MAPS}/read` }, options);
  if (failed > 0) throw new Error(`${failed} requests of a user with rights failed`);
  return (cpuOf(program.pid) - before) / ((perSecond * (performance.now() - began)) / 1_000);
}
