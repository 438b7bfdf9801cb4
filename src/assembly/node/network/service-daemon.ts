/** The process that serves the Services of an agent's node without rights for rules: it goes on when the agent ends. */
import type { Tools } from '../../../base/tools.ts';
import type { AttachedDaemon } from '../../../network/daemon/attached-daemon.ts';
import { daemonCommand, daemonDirectory } from '../../threads/daemon-command.ts';

interface ServiceDaemonOptions extends Tools {
  /** That of the agent. */
  readonly dataDirectory: string;
  readonly clusterDomain: string;
}

/** A daemon that answers no DNS queries and has no Ingresses. */
export class OwnServiceDaemon {
  #opened: Promise<AttachedDaemon> | undefined;

  constructor(private readonly options: ServiceDaemonOptions) {}

  /** Finds or starts the daemon. Undefined when the sources run directly: the daemon is a program of its own. */
  async open(): Promise<AttachedDaemon | undefined> {
    const { dataDirectory, clusterDomain, ...environment } = this.options;
    const directory = daemonDirectory(dataDirectory);
    const command = daemonCommand(directory);
    if (!command) return undefined;
    const { AttachedDaemon } = await import('../../../network/daemon/attached-daemon.ts');
    const dns = { domain: clusterDomain, ranges: [], serviceAddress: undefined, clients: [], upstream: [] };
    this.#opened = AttachedDaemon.open({
      ...environment,
      ...command,
      directory,
      settings: { dns, allowedDialRanges: [] },
    });
    return this.#opened;
  }

  /** Ends what the daemon did for an earlier agent and this one does not continue. */
  async commit(): Promise<void> {
    await (await this.#opened)?.commit();
  }

  /** Leaves the daemon, which goes on. */
  async leave(): Promise<void> {
    const daemon = await this.#opened?.catch(() => undefined);
    daemon?.leave();
  }
}
