/**
 * Writes the administrator's kubeconfig: to the data directory and, as a context, into the file of --kubeconfig or the user's
 * own. A file that is up to date is left alone, which is found out without parsing YAML.
 */

import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { type Access, base64, isRendered, render } from '../../../assembly/rendered-kubeconfig.ts';
import { readIfThere, writeWhole } from '../../../base/files/own/files.ts';
import { makeDirectories } from '../../../base/files/own/make-directories.ts';
import type { Clock } from '../../../base/time/clock.ts';
import { SERVERS_EXTENSION, serverList } from '../../../client/kubeconfig/server-list.ts';
import { defaultKubeconfig, filesOfVariable } from '../../flags/kubeconfig-files.ts';
import { explain } from '../../output/cli-error.ts';
import type { Say } from '../../output/steps.ts';
import { checkWritableFile } from '../../process/writable.ts';

export interface Publication {
  readonly access: Access;
  /** From --kubeconfig. */
  readonly file: string | undefined;
  /** The cluster's data directory. */
  readonly directory: string;
  readonly clock: Clock;
}

export interface Published {
  /** The file to name to kubectl; undefined when its default one has the cluster. */
  readonly file: string | undefined;
  /** Notes for the user on what became of their own file. */
  readonly notes: readonly string[];
}

export async function publishAccess(publication: Publication, say: Say): Promise<Published> {
  const { access, file: given, directory, clock } = publication;
  const own = ownKubeconfig(directory);
  await writeOwn(own, access);
  if (given !== undefined) {
    const file = resolve(given);
    await writeAccess(file, access, clock);
    say(file);
    return { file, notes: [] };
  }
  say(own);
  const users = userFile(process.env, homedir());
  const named = filesOfVariable(process.env);
  try {
    const { isNew, switchedFrom } = await writeAccess(users, access, clock, named.length > 0 ? named : [users]);
    say(`context "${access.name}" in ${users}`);
    return {
      file: undefined,
      notes: [
        ...(isNew && named.length > 0 ? [`${users}, which KUBECONFIG names, was created.`] : []),
        ...(switchedFrom === undefined ? [] : [switched(switchedFrom, access.name)]),
      ],
    };
  } catch (error) {
    // The cluster can be used without it.
    say(`${own}; ${users} could not be changed: ${explain(error)}`);
    return { file: own, notes: [] };
  }
}

/** The kubeconfig in a data directory. It has the cluster of this directory alone. */
export const ownKubeconfig = (directory: string): string => join(directory, 'admin.kubeconfig');

/** Replaces whatever the file says: in a copied directory, that is the cluster which was copied. */
export async function writeOwn(file: string, access: Access): Promise<void> {
  const text = render(access);
  if ((await readIfThere(file)) !== text) await writeWhole(file, text);
}

function switched(from: string, to: string): string {
  return `kubectl context switched from "${from}" to "${to}"; back: kubectl config use-context ${quoted(from)}`;
}

/** Context names may have any character. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

export interface WrittenAccess {
  /** True when the file was created. */
  readonly isNew: boolean;
  /** The context that was current before, when another one is now. */
  readonly switchedFrom: string | undefined;
}

const UNCHANGED: WrittenAccess = { isNew: false, switchedFrom: undefined };

/**
 * Writes the kubeconfig, or merges the cluster into one that exists. `files` are those that kubectl merges, of which this
 * is one.
 */
export async function writeAccess(
  file: string,
  access: Access,
  clock: Clock,
  files: readonly string[] = [file],
): Promise<WrittenAccess> {
  const text = await readIfThere(file);
  if (text !== undefined && (await isUpToDate(text, access))) return UNCHANGED;
  const before = await currentContext(files);
  const isNew = text === undefined;
  // A cluster that was in the file before does not become the current context again.
  const current = isNew || !text.includes(base64(access.ca));
  if (!isNew && text.trim() !== '') {
    const { writeContext } = await import('../../../client/kubeconfig/kubeconfig-file.ts');
    await writeContext(file, { ...access, current }, clock);
  } else {
    await makeDirectories(dirname(file), 0o700);
    await writeWhole(file, render(access));
  }
  return { isNew, switchedFrom: current && before !== access.name ? before : undefined };
}

/** The context that kubectl uses; undefined when there is none, or when a file is broken and kubectl does not work. */
async function currentContext(files: readonly string[]): Promise<string | undefined> {
  const found = files.filter((file) => existsSync(file));
  if (found.length === 0) return undefined;
  const { loadKubeconfig } = await import('../../../client/kubeconfig/kubeconfig.ts');
  return loadKubeconfig(found).then(
    (config) => config.currentContext,
    () => undefined,
  );
}

/** Rejects when the cluster could not be written to the file of --kubeconfig. One that we wrote is not parsed. */
export async function checkKubeconfig(file: string): Promise<void> {
  await checkWritableFile('--kubeconfig', file);
  const text = (await readIfThere(file)) ?? '';
  if (text === '' || isRendered(text)) return;
  const { parseKubeconfig } = await import('../../../client/kubeconfig/kubeconfig.ts');
  parseKubeconfig(text, file);
}

/** The file outside the data directory that a start writes to. `given` is from --kubeconfig. */
export function publishedFile(given: string | undefined): string {
  return given === undefined ? userFile(process.env, homedir()) : resolve(given);
}

/** The file that kubectl would change: the first of $KUBECONFIG that exists, or else its last. */
export function userFile(env: NodeJS.ProcessEnv, home: string): string {
  const files = filesOfVariable(env);
  return resolve(files.find((file) => existsSync(file)) ?? files.at(-1) ?? defaultKubeconfig(home));
}

/** Reports whether the text has this cluster: certificates and keys are unique. */
async function isUpToDate(text: string, { name, server, servers, ca, cert, key }: Access): Promise<boolean> {
  const parts = [`server: ${server}\n`, base64(ca), base64(cert), base64(key)];
  if (!parts.every((part) => text.includes(part))) return false;
  if (!text.includes(SERVERS_EXTENSION)) return servers.length === 0;
  const { parseKubeconfig } = await import('../../../client/kubeconfig/kubeconfig.ts');
  return isDeepStrictEqual(serverList(parseKubeconfig(text, 'the kubeconfig').clusters.get(name) ?? {}), servers);
}
