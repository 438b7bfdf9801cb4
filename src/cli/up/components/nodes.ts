/** The nodes that a cluster starts with, from the flags: which run in this process, and how the server reaches them. */
import { readFile } from 'node:fs/promises';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Clock } from '../../../base/clock.ts';
import type { Logger } from '../../../base/log.ts';
import type { Random } from '../../../base/random.ts';
import { createClient } from '../../../client/client.ts';
import { directTransport } from '../../../client/transport/direct-transport.ts';
import type { Rules } from '../../../node/simulated/rules/rules.ts';
import type { SimulatedNodes } from '../../../node/simulated/simulated.ts';
import type { User } from '../../../server/api.ts';
import type { Server } from '../../../server/index.ts';
import * as value from '../../flags/values.ts';
import { CliError } from '../../output/cli-error.ts';
import type { Say } from '../../output/steps.ts';
import type { Cleanup } from '../../process/cleanup.ts';
import { apiVersion } from '../../version.ts';

const runtimes = ['auto', 'simulated'] as const;

export interface NodeFlags {
  readonly name: string;
  readonly runtime: (typeof runtimes)[number];
  readonly nodes?: number;
  readonly simulation?: string;
  readonly clusterCidr?: string;
  readonly volumesDir?: string;
}

const MOST_NODES = 50_000;

export function withNodeFlags(command: Command): Command {
  return command
    .addOption(new Option('--runtime <runtime>', 'what runs pods').choices(runtimes).default('auto'))
    .option('--nodes <count>', 'how many nodes there are (default: 1 with --runtime simulated, else none)', count)
    .option('--simulation <file>', 'rules for simulated nodes and their pods')
    .option(
      '--cluster-cidr <cidr>',
      'addresses of pods (default: 10.244.0.0/16, and 10.128.0.0/9 for more than 256 nodes)',
      value.serviceRange,
    )
    .option('--volumes-dir <dir>', 'where nodes make the volumes of claims (default: volumes in the data directory)');
}

function count(text: string): number {
  const number = Number(text);
  if (!/^\d{1,9}$/.test(text) || number > MOST_NODES) {
    throw new InvalidArgumentError(`It must be a whole number up to ${MOST_NODES}.`);
  }
  return number;
}

/** How many nodes there are to be. Throws where flags do not go together. */
export function wantedNodes({ runtime, nodes, simulation }: NodeFlags): number {
  if (runtime === 'simulated') return nodes ?? 1;
  if (nodes) throw new CliError('--nodes needs --runtime simulated');
  if (simulation !== undefined) throw new CliError('--simulation needs --runtime simulated');
  return 0;
}

interface Place {
  readonly server: Server;
  readonly cleanup: Cleanup;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

const USER: User = { name: 'system:simulated-nodes', groups: ['system:masters', 'system:authenticated'] };
/** Those of 256 addresses each that are in the usual range. */
const USUAL_NODES = 256;

/** Resolves when the nodes are registered. Loaded only where there are any. */
export async function startNodes(flags: NodeFlags, place: Place, say: Say): Promise<void> {
  const { server, cleanup, clock, random, log } = place;
  const wanted = wantedNodes(flags);
  const [{ startSimulatedNodes }, rules] = await Promise.all([
    import('../../../node/simulated/simulated.ts'),
    rulesOf(flags.simulation),
  ]);
  const clusterCidr = flags.clusterCidr ?? (wanted > USUAL_NODES ? '10.128.0.0/9' : '10.244.0.0/16');
  const names = Array.from({ length: wanted }, (_, index) => `${flags.name}-node-${index + 1}`);
  const client = createClient(directTransport(server.handle, USER));
  const { gitVersion: version } = apiVersion;
  const nodes = await startSimulatedNodes({ client, clock, random, log, names, clusterCidr, version, rules }).catch(
    (cause: unknown) => {
      if (!(cause instanceof RangeError)) throw cause;
      throw new CliError(`--cluster-cidr: ${cause.message}`, { cause });
    },
  );
  cleanup.add(() => nodes.stop());
  reach(server, nodes);
  say(`${wanted} simulated`);
}

function reach(server: Server, nodes: SimulatedNodes): void {
  const why = (node: string) =>
    nodes.has(node)
      ? `node "${node}" is simulated: it runs no processes that one could connect to`
      : `the agent of node "${node}" cannot be reached`;
  server.reachNodesBy({
    logs: (request) => nodes.logs(request),
    usage: async (node) => nodes.usage(node),
    refusal: why,
  });
}

async function rulesOf(file: string | undefined): Promise<Rules> {
  const { NO_RULES, readRules } = await import('../../../node/simulated/rules/read-rules.ts');
  if (file === undefined) return NO_RULES;
  try {
    const { parse } = await import('yaml');
    return readRules(parse(await readFile(file, 'utf8')));
  } catch (cause) {
    throw new CliError(`--simulation ${file} cannot be used: ${(cause as Error).message}`, { cause });
  }
}
