/** The clusters that the contexts of the client configuration name. */
import { ApiError } from '../../../api/errors.ts';
import { openCluster } from '../../../assembly/federation/open-cluster.ts';
import { type Clock, systemClock } from '../../../base/time/clock.ts';
import { type Client, createClient } from '../../../client/client.ts';
import {
  type Connection,
  connectionOf,
  type Kubeconfig,
  loadKubeconfig,
} from '../../../client/kubeconfig/kubeconfig.ts';
import { httpsTransport } from '../../../client/transport/http/https-transport.ts';
import type { Transport } from '../../../client/transport/transport.ts';
import { existingFiles } from '../../flags/connection.ts';
import { CliError } from '../../output/cli-error.ts';

export interface ClusterAccess {
  readonly context: string;
  readonly connection: Connection;
  readonly client: Client;
}

export interface Contexts {
  readonly config: Kubeconfig;
  /** The file that new entries are written to. */
  readonly file: string;
  /** Rejects with an error that names `flag` when there is no such context. */
  open(context: string, flag: string): Promise<ClusterAccess>;
  close(): void;
}

/** Only objects and short lists are read. A write has the minute that any call has: it may wait for webhooks. */
const READ_TIMEOUT_MS = 10_000;

/** Runs a command with the contexts of the client configuration, and closes their connections afterwards. */
export async function withContexts(
  kubeconfig: string | undefined,
  work: (contexts: Contexts) => Promise<void>,
): Promise<void> {
  const contexts = await loadContexts(kubeconfig);
  try {
    await work(contexts);
  } finally {
    contexts.close();
  }
}

export async function loadContexts(kubeconfig: string | undefined, clock: Clock = systemClock): Promise<Contexts> {
  const files = existingFiles(kubeconfig, process.env);
  const config = await loadKubeconfig(files);
  const transports: { close(): void }[] = [];
  return {
    config,
    file: files[0]!,
    async open(context, flag) {
      if (!config.contexts.has(context)) {
        const known = [...config.contexts.keys()].join(', ') || 'none';
        throw new CliError(`${flag}: there is no context "${context}" in ${files.join(', ')} (contexts: ${known})`);
      }
      const connection = await connectionOf(config, context).catch((cause: Error) => {
        throw new CliError(`the context "${context}" cannot be used: ${cause.message}`, { cause });
      });
      const opened = openCluster(connection, { clock, readTimeout: READ_TIMEOUT_MS });
      transports.push(opened);
      return { context, connection, client: createClient(named(opened.transport, context)) };
    },
    close() {
      for (const transport of transports) transport.close();
    },
  };
}

export interface Release {
  readonly major: string;
  readonly minor: string;
  readonly gitVersion: string;
}

const VERSION_LIMITS = { maxBytes: 64 * 1024, maxDepth: 100, maxParts: 1_000 };

/** Reads the release of the cluster at `/version`. */
export async function releaseOf({ context, connection }: ClusterAccess): Promise<Release> {
  const transport = httpsTransport({ ...connection, timeout: READ_TIMEOUT_MS, limits: VERSION_LIMITS });
  try {
    const { major, minor, gitVersion } = await transport.read('/version');
    if (![major, minor, gitVersion].every((each) => typeof each === 'string'))
      throw new Error('/version names no release');
    return { major, minor, gitVersion };
  } catch (cause) {
    const why = (cause as Error).message;
    throw new CliError(`the cluster of context "${context}" does not answer at ${connection.server}: ${why}`, {
      cause,
    });
  } finally {
    transport.close();
  }
}

/** Errors say which of several clusters they are about. */
function named(transport: Transport, context: string): Transport {
  const naming = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const { reason, message, details, metadata } = error;
      const options = { details, metadata, cause: error };
      throw new ApiError(reason, `the cluster of context "${context}": ${message}`, options);
    }
  };
  return {
    ...transport,
    call: (request) => naming(transport.call(request)),
    watch: (request) => naming(transport.watch(request)),
  };
}
