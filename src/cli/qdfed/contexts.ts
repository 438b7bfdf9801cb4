/** The clusters that the contexts of the client configuration name. */
import { request } from 'node:https';
import { refuseUpgrade } from '../../base/refuse-upgrade.ts';
import { type Client, createClient } from '../../client/client.ts';
import { type Connection, connectionOf, type Kubeconfig, loadKubeconfig } from '../../client/kubeconfig/kubeconfig.ts';
import { httpsTransport } from '../../client/transport/https-transport.ts';
import { existingFiles } from '../flags/connection.ts';
import { CliError } from '../output/cli-error.ts';

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

export async function loadContexts(kubeconfig: string | undefined): Promise<Contexts> {
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
      const connection = await connectionOf(config, context);
      const transport = httpsTransport(connection);
      transports.push(transport);
      return { context, connection, client: createClient(transport) };
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

const VERSION_TIMEOUT_MS = 10_000;
const MAX_VERSION_LENGTH = 64 * 1024;

/** What the cluster answers to `/version`. */
export function releaseOf({ context, connection }: ClusterAccess): Promise<Release> {
  const { server, ca, cert, key, token, tlsServerName, insecureSkipTlsVerify } = connection;
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(VERSION_TIMEOUT_MS);
    const fail = (cause: Error) => {
      const why = signal.aborted ? `no answer within ${VERSION_TIMEOUT_MS / 1000} s` : cause.message;
      reject(new CliError(`the cluster of context "${context}" does not answer at ${server}: ${why}`, { cause }));
    };
    const call = request(
      `${server.replace(/\/$/, '')}/version`,
      {
        ...{ headers, ca, cert, key, servername: tlsServerName, agent: false, signal },
        rejectUnauthorized: !insecureSkipTlsVerify,
      },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk;
          if (text.length > MAX_VERSION_LENGTH) call.destroy(new Error('/version is too long'));
        });
        response.on('error', fail);
        response.on('end', () => {
          if (response.statusCode !== 200) return fail(new Error(`/version has the status ${response.statusCode}`));
          try {
            resolve(JSON.parse(text) as Release);
          } catch (error) {
            fail(error as Error);
          }
        });
      },
    );
    refuseUpgrade(call);
    call.on('error', fail).end();
  });
}
