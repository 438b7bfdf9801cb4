/** exec and attach: a process of a container, connected with the client. */

import { badRequest } from '../../../api/errors.ts';
import type { CommandStreams } from '../../../api/remote-command/command-channels.ts';
import { serveCommand } from '../../../api/remote-command/serve-command.ts';
import { commandUpgrade } from '../../../api/remote-command/upgrade.ts';
import type { Clock } from '../../../base/time/clock.ts';
import type { ContainerName, PodStreams } from '../pod-streams.ts';
import type { UpgradeExchange } from '../upgrade-exchange.ts';

export interface CommandRequest {
  readonly type: 'exec' | 'attach';
  readonly target: ContainerName;
  readonly query: URLSearchParams;
}

const FAILURES = { exec: 'error executing command in container', attach: 'error attaching to container' } as const;

/** Resolves when the process has ended or the client has gone. Rejects as long as the request can be rejected. */
export async function serveCommandRequest(
  exchange: UpgradeExchange,
  { type, target, query }: CommandRequest,
  { streams: pods, clock }: { readonly streams: PodStreams; readonly clock: Clock },
): Promise<void> {
  const streams = streamsOf(query);
  const upgrade = commandUpgrade(exchange, streams, clock);
  const process = await (type === 'exec'
    ? pods.exec(target, streams, query.getAll('command'))
    : pods.attach(target, streams));
  try {
    const channels = await upgrade.start(exchange.accept(upgrade.headers));
    await serveCommand(process, channels, { failure: FAILURES[type] });
  } finally {
    process.close();
  }
}

/** Throws a BadRequest when nothing would be connected. */
function streamsOf(query: URLSearchParams): CommandStreams {
  const isSet = (name: string) => ['true', '1'].includes(query.get(name) ?? '');
  const tty = isSet('tty');
  const streams = { stdin: isSet('input'), stdout: isSet('output'), stderr: isSet('error') && !tty, tty };
  if (!streams.stdin && !streams.stdout && !streams.stderr) {
    throw badRequest('you must specify at least 1 of stdin, stdout, stderr');
  }
  return streams;
}
