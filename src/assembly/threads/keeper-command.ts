/** The command that starts the keeper of the process runtime. */
import { join } from 'node:path';
import { underHostName } from '../../base/programs/host-name.ts';

/** Defined by the build; absent when the sources run directly. */
declare const KEEPER_NAME: string | undefined;

/** Where the keeper of a further node of the machine runs. */
interface KeeperPlace {
  /** The path of its network namespace; undefined: that of this process. */
  readonly networkNamespace?: string | undefined;
  /** The name of the machine for what it runs; undefined: the machine's own. */
  readonly hostName?: string | undefined;
}

/** Undefined when the sources run directly: the keeper is a program of its own. */
export function keeperCommand({ networkNamespace, hostName }: KeeperPlace): readonly string[] | undefined {
  if (typeof KEEPER_NAME === 'undefined') return undefined;
  const inNamespace = networkNamespace === undefined ? [] : ['/usr/bin/nsenter', `--net=${networkNamespace}`];
  const keeper = [process.execPath, join(__dirname, KEEPER_NAME)];
  return [...inNamespace, ...(hostName === undefined ? keeper : underHostName('/usr/bin/unshare', hostName, keeper))];
}
