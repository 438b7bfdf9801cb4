/** Messages of a start when the cluster is ready: its address, what became of the kubeconfig, and what to do next. */

import { serverUrl } from '../../../assembly/addresses.ts';
import type { UnreadyNode } from '../../../assembly/cluster-nodes/nodes-ready.ts';
import { nodeConfig } from '../../agent/node-config.ts';
import { podExecutor } from '../../agent/pod-executor.ts';
import { commandFor } from '../../output/command-for.ts';
import { isDetached } from '../../process/background/ready.ts';
import { isPrivateCluster } from '../components/private-cluster.ts';
import type { StartContext } from '../context.ts';
import type { Published } from '../identity/kubeconfig.ts';
import { exposedLines } from '../listeners/open-ports.ts';
import { nextCommands } from './next-commands.ts';

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
  return `\nReady in ${seconds} s${except}: ${url}\n${notes}${exposure(context)}\n${nextSteps(published.file, context)}`;
}

/** Lists the ports that other machines may reach, whether meant for them or for pods. */
function exposure({ openPorts }: StartContext): string {
  const lines = exposedLines(openPorts);
  return lines.length === 0
    ? ''
    : ['\nListening on addresses of the network:', ...lines.map((line) => `  ${line}`), ''].join('\n');
}

function nextSteps(kubeconfig: string | undefined, { settings, inputs: { nodes }, directory }: StartContext): string {
  const { name } = settings;
  const stop = isDetached() ? commandFor('down', name, directory) : 'Ctrl-C';
  const kubectl = kubeconfig === undefined ? `kubectl --context ${name}` : `kubectl --kubeconfig ${kubeconfig}`;
  const next = nextCommands({
    runtime: nodes.runtime,
    nodes: nodes.names.length,
    executor: podExecutor(process.env.PATH ?? ''),
    allowsHostImage: nodeConfig(settings, isPrivateCluster(settings)).allowsHostImage,
    imageLoad: commandFor('image load', name, directory),
  });
  return [
    'Next:',
    `  ${kubectl} get namespaces`,
    ...next.kubectl.map((command) => `  ${kubectl} ${command}`),
    ...(next.note === undefined ? [] : ['', `${next.note}.`]),
    '',
    `${stop} stops the cluster; the next start continues it.`,
  ].join('\n');
}
