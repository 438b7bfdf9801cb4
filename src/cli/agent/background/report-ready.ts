/** Says when the node of an agent is ready, to people and to the command that started the agent in the background. */
import { type StartingNode, type UnreadyNode, untilNodesReady } from '../../../assembly/cluster-nodes/nodes-ready.ts';
import type { Logger } from '../../../base/log.ts';
import { type Clock, sleep } from '../../../base/time/clock.ts';
import { explain } from '../../output/cli-error.ts';
import { oneLine } from '../../output/one-line.ts';
import { NODES_NOT_READY, READY, reportReady } from '../../process/background/ready.ts';

/** How long a start waits before it names the reason. */
const TIMEOUT_MS = 60_000;
/** Pause while the server cannot be asked. */
const RETRY_MS = 1_000;

interface ReportOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly onReady: () => Promise<void>;
}

/**
 * Returns what is called with the node of each membership, and with a signal that ends the wait. The first one that becomes
 * ready is reported. A node that is not ready in time is named with the reason, and waited for further.
 */
export function reportWhenReady(options: ReportOptions): (node: StartingNode, signal: AbortSignal) => void {
  const { clock, log, onReady } = options;
  const deadline = clock.now() + TIMEOUT_MS;
  let isLate = false;
  let isReady = false;
  const report = async (node: StartingNode, signal: AbortSignal) => {
    while (!signal.aborted) {
      const unready = await wait(node, { clock, signal, timeoutMs: Math.max(deadline - clock.now(), RETRY_MS) });
      if (signal.aborted || unready === undefined) break;
      if (isLate || clock.now() < deadline) continue;
      isLate = true;
      const reason = oneLine(`node "${node.name}" is not ready: ${unready.reason}; the agent goes on trying`);
      process.stderr.write(`qd: ${reason}\n`);
      reportReady(NODES_NOT_READY);
    }
    if (signal.aborted) return;
    isReady = true;
    await onReady();
    process.stdout.write(`Node ${node.name} is ready.\n`);
    reportReady(READY);
  };
  return (node, signal) => {
    if (isReady) return;
    report(node, signal).catch((error: unknown) => log.warn('the node was not reported as ready', { error }));
  };
}

interface WaitOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

async function wait(node: StartingNode, options: WaitOptions): Promise<UnreadyNode | undefined> {
  try {
    const [unready] = await untilNodesReady([node], options);
    return unready;
  } catch (error) {
    await sleep(options.clock, RETRY_MS, options.signal).catch(() => undefined);
    return { name: node.name, reason: explain(error) };
  }
}
