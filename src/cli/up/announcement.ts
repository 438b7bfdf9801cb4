/** What a start says when the cluster is ready: its address, what became of the kubeconfig, and what to do next. */
import { commandFor } from '../output/command-for.ts';
import type { UnreadyNode } from './components/nodes-ready.ts';
import type { StartContext } from './context.ts';
import { isDetached } from './detach/ready.ts';
import { type Published, serverUrl } from './identity/kubeconfig.ts';

interface Announcement {
  readonly published: Published;
  /** Since the program was started. */
  readonly seconds: string;
  readonly unready: readonly UnreadyNode[];
}

export function announcement(context: StartContext, { published, seconds, unready }: Announcement): string {
  const { bindAddress, port } = context.settings;
  const except = unready.length === 0 ? '' : `, except for ${unready.map(({ name }) => name).join(', ')}`;
  const notes = published.notes.map((note) => `${note}\n`).join('');
  const url = serverUrl(bindAddress, port);
  return `\nReady in ${seconds} s${except}: ${url}\n${notes}\n${nextSteps(published.file, context)}`;
}

function nextSteps(kubeconfig: string | undefined, { settings: { name }, inputs, directory }: StartContext): string {
  const stop = isDetached() ? commandFor('down', name, directory) : 'Ctrl-C';
  const kubectl = kubeconfig === undefined ? `kubectl --context ${name}` : `kubectl --kubeconfig ${kubeconfig}`;
  const example =
    inputs.nodes.names.length > 0
      ? ['create deployment hello --image=nginx', 'get pods']
      : ['create configmap hello --from-literal=greeting=hi', 'get configmap hello -o yaml'];
  return [
    'Next:',
    `  ${kubectl} get namespaces`,
    ...example.map((command) => `  ${kubectl} ${command}`),
    '',
    `${stop} stops the cluster; the next start continues it.`,
  ].join('\n');
}
