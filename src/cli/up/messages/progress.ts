/** Shows the parts of a cluster as steps of its start. */
import type { ClusterParts, StartPart } from '../../../assembly/cluster/parts.ts';
import { describePods } from '../../agent/pod-executor.ts';
import type { StartContext } from '../context.ts';

type Show = { readonly [Part in keyof ClusterParts]: readonly [string, (started: ClusterParts[Part]) => string] };

export function startPart(context: StartContext): StartPart {
  const { steps } = context;
  const shown = showing(context);
  return (part, start) => {
    const [title, describe] = shown[part];
    return steps.run(title, async (say) => {
      const started = await start();
      say(describe(started));
      return started;
    });
  };
}

function showing(context: StartContext): Show {
  const { settings } = context;
  return {
    etcd: ['etcd', ({ name, address }) => `member "${name}" at ${address.host}:${address.clientPort}`],
    store: ['store', ({ revision }) => `${settings.store}, revision ${revision}`],
    certificates: [
      'certificates',
      ({ created }) => (created.length > 0 ? `created ${created.join(', ')}` : 'unchanged'),
    ],
    objects: ['objects', (count) => `${count} restored`],
    controlPlane: ['API', ({ builtInKinds }) => `${builtInKinds} kinds`],
    https: ['HTTPS', ({ urls }) => urls.join(', ')],
    insecure: ['plain HTTP', (url) => `${url}, WITHOUT AUTHENTICATION: every user of this machine is an administrator`],
    components: [
      'controllers',
      ({ chosen, total, schedules }) =>
        `${chosen === total ? total : `${chosen} of ${total}`}, ${schedules ? 'and the' : 'no'} scheduler`,
    ],
    dns: ['DNS', ({ clusterIp, address, port }) => `${settings.clusterDomain} at ${clusterIp}, on ${address}:${port}`],
    nodes: ['nodes', () => describeNodes(context)],
    ingress: ['ingress', (urls) => urls.join(', ')],
  };
}

function describeNodes({ inputs: { nodes }, path }: StartContext): string {
  const { runtime, why, names } = nodes;
  if (names.length === 0) return 'none';
  const which = names.length === 1 ? names[0] : names.length;
  const because = why === undefined ? '' : ` (${why})`;
  switch (runtime) {
    case 'simulated':
      return `${which}, simulated: pods are not really run`;
    case 'containerd':
      return `${which}, containers of containerd${because}`;
    case 'process':
      return `${which}, ${describePods(path)}${because}`;
  }
}
