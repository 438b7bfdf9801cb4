/** The command that starts the keeper of the process runtime. */
import { join } from 'node:path';

/** Defined by the build; absent when the sources run directly. */
declare const KEEPER_NAME: string | undefined;

/**
 * Undefined when the sources run directly: the keeper is a program of its own. `networkNamespace` is the path of the one that
 * it runs in.
 */
export function keeperCommand(networkNamespace?: string): readonly string[] | undefined {
  if (typeof KEEPER_NAME === 'undefined') return undefined;
  const inNamespace = networkNamespace === undefined ? [] : ['/usr/bin/nsenter', `--net=${networkNamespace}`];
  return [...inNamespace, process.execPath, join(__dirname, KEEPER_NAME)];
}
