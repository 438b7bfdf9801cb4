import { explain } from '../../output/cli-error.ts';
import type { StartContext } from '../context.ts';

/** Resolves with which servers have an etcd that does not answer, or has no vote yet; undefined: none, or the cluster runs no etcd. */
export async function memberProblem({
  settings: { ha, etcdServers = [] },
  directory,
  machineClock: clock,
}: Pick<StartContext, 'settings' | 'directory' | 'machineClock'>): Promise<string | undefined> {
  if (!ha) return undefined;
  const { listServers } = await import('../../../assembly/etcd/members.ts');
  try {
    const servers = await listServers({ directory, endpoints: etcdServers, clock });
    const wrong = servers.filter(({ state }) => state === 'silent' || state === 'joining');
    return wrong.length === 0
      ? undefined
      : wrong.map(({ name, url, state }) => `the etcd of server ${name || url} is ${state}`).join('; ');
  } catch (error) {
    return `etcd does not say which members it has: ${explain(error)}`;
  }
}
