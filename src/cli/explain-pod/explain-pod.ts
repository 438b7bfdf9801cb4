/** `qd explain-pod`: asks the server for the scheduling result of a pod, and prints it as a table. */
import { createClient } from '../../client/client.ts';
import { httpsTransport } from '../../client/transport/http/https-transport.ts';
import { Pod } from '../../kinds/groups/core/pod/pod.ts';
import type { Explanation, NodeVerdict } from '../../scheduler/explain.ts';
import { connectionFor } from '../clusters/choice.ts';
import { withReadyServer } from '../flags/reach/ready-server.ts';
import { table } from '../output/table.ts';
import type { ExplainFlags } from './flags.ts';

const HEADER = ['NODE', 'FITS', 'SCORE', 'WHY'];

export async function explainPod(name: string, flags: ExplainFlags): Promise<void> {
  const transport = httpsTransport({
    ...(await withReadyServer(await connectionFor(flags))),
    userAgent: 'qd-explain-pod',
  });
  try {
    const pods = createClient(transport).of(Pod).in(flags.namespace);
    const explanation = await pods.subresource(name, 'explain').get();
    const lines = flags.json
      ? [JSON.stringify(explanation, undefined, 2)]
      : report(`${flags.namespace}/${name}`, explanation as unknown as Explanation, flags.all ?? false);
    process.stdout.write(`${lines.join('\n')}\n`);
  } finally {
    transport.close();
  }
}

export function report(pod: string, explanation: Explanation, showsAll: boolean): string[] {
  const rows = explanation.nodes.map((node) => [
    node.name,
    node.fits ? 'yes' : 'no',
    node.total === undefined ? '-' : String(node.total),
    why(node, showsAll),
  ]);
  return [
    `${pod}: ${where(explanation)}`,
    `${explanation.message}.`,
    ...(rows.length > 0 ? ['', ...table([HEADER, ...rows])] : []),
  ];
}

function where({ nodeName, nominatedNodeName, queue }: Explanation): string {
  if (nodeName) return `on ${nodeName}`;
  const waiting = queue
    ? `${queue.state}, ${queue.attempts} attempt${queue.attempts === 1 ? '' : 's'} so far`
    : 'waiting';
  return nominatedNodeName ? `${waiting}; ${nominatedNodeName} is being freed for it by preemption` : waiting;
}

function why({ filters, scores }: NodeVerdict, showsAll: boolean): string {
  const against = filters.filter(({ result }) => result === 'Rejected');
  const rejections = against.map(({ plugin, reasons = [], details = reasons }) => `${plugin}: ${details.join(', ')}`);
  const others = filters.filter(({ result }) => showsAll && result !== 'Rejected');
  return [
    ...rejections,
    ...(scores ?? []).map(({ plugin, score, weight }) => `${plugin} ${weight > 1 ? `${weight}×` : ''}${score}`),
    ...others.map(({ plugin, result }) => `${plugin} ${result.toLowerCase()}`),
  ].join('; ');
}
