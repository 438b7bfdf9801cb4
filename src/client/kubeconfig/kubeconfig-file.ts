/**
 * Writes a cluster's context into a kubeconfig file that may be the user's own: everything else in it, comments and unknown
 * fields included, is preserved. The file is replaced atomically and readable only by its owner.
 */

import { open, readFile, realpath, rename, rm, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type Document, isMap, isScalar, isSeq, parseDocument, type YAMLMap, type YAMLSeq } from 'yaml';
import { fileProblem } from '../../base/files/file-problem.ts';
import { makeDirectories } from '../../base/files/own/make-directories.ts';
import { type Clock, sleep } from '../../base/time/clock.ts';
import { type Connection, KubeconfigError } from './kubeconfig.ts';
import { extensionsWith } from './server-list.ts';

/** A cluster and its administrator, under one name in clusters, users and contexts. Certificates and keys are PEM. */
export interface ContextToWrite extends Pick<Connection, 'server' | 'ca' | 'cert' | 'key' | 'token'> {
  readonly name: string;
  /** URLs of all servers of the cluster. Default: no list is written. */
  readonly servers?: readonly string[];
  readonly namespace?: string;
  /** Credentials that are also written, as the user `NAME-basic-auth`, which no context uses. */
  readonly basicAuth?: { readonly username: string; readonly password: string };
  /** True to make it the current context. */
  readonly current?: boolean;
}

/** Adds the context, or replaces the one of the same name. The file and its directory may be missing. */
export function writeContext(file: string, context: ContextToWrite, clock: Clock): Promise<void> {
  const { name, current } = context;
  return change(file, clock, (config) => {
    put(config, 'clusters', name, {
      server: context.server,
      ...(context.ca ? { 'certificate-authority-data': base64(context.ca) } : {}),
      ...(context.servers?.length ? { extensions: extensionsWith(context.servers) } : {}),
    });
    put(config, 'users', name, {
      ...(context.cert ? { 'client-certificate-data': base64(context.cert) } : {}),
      ...(context.key ? { 'client-key-data': base64(context.key) } : {}),
      ...(context.token ? { token: context.token } : {}),
    });
    if (context.basicAuth) put(config, 'users', `${name}-basic-auth`, context.basicAuth);
    put(config, 'contexts', name, {
      cluster: name,
      user: name,
      ...(context.namespace ? { namespace: context.namespace } : {}),
    });
    if (current) config.set('current-context', name);
    return true;
  });
}

export interface RemovedContext {
  readonly wasCurrent: boolean;
  /** Names of the remaining contexts. */
  readonly others: readonly string[];
}

/**
 * Removes the context of this name, its cluster and its user, if `isWanted` accepts the certificate authority (PEM) and
 * the URL of the cluster. Resolves with undefined when there is no such context. A missing file stays missing.
 */
export async function removeContext(
  file: string,
  name: string,
  clock: Clock,
  isWanted: (ca: string | undefined, server: string | undefined) => boolean = () => true,
): Promise<RemovedContext | undefined> {
  let removed: RemovedContext | undefined;
  await change(file, clock, (config, existed) => {
    const found = sectionOf(config, 'clusters', file)?.items.find((item) => nameOf(item) === name);
    if (!existed || !isWanted(authorityOf(found), serverOf(found))) return false;
    const wasCurrent = config.get('current-context') === name;
    for (const plural of SECTIONS) {
      const list = sectionOf(config, plural, file);
      const index = list?.items.findIndex((item) => nameOf(item) === name) ?? -1;
      if (index < 0) continue;
      list?.items.splice(index, 1);
      removed = { wasCurrent, others: [] };
    }
    const others = sectionOf(config, 'contexts', file)?.items.map((item) => String(nameOf(item))) ?? [];
    removed &&= { ...removed, others };
    if (wasCurrent) config.set('current-context', '');
    return true;
  });
  return removed;
}

function authorityOf(cluster: unknown): string | undefined {
  const data = isMap(cluster) ? cluster.getIn(['cluster', 'certificate-authority-data']) : undefined;
  return typeof data === 'string' ? Buffer.from(data, 'base64').toString() : undefined;
}

function serverOf(cluster: unknown): string | undefined {
  const server = isMap(cluster) ? cluster.getIn(['cluster', 'server']) : undefined;
  return typeof server === 'string' ? server : undefined;
}

const SECTIONS = ['clusters', 'contexts', 'users'] as const;

/** Edits the file, and returns whether it must be written. */
type Edit = (config: Document, existed: boolean) => boolean;

/** Reads, edits and replaces the file under a lock. */
async function change(file: string, clock: Clock, edit: Edit): Promise<void> {
  await makeDirectories(dirname(file), 0o700).catch((error) => {
    throw new KubeconfigError(`cannot write ${file}: ${error.message}`, { cause: error });
  });
  // Keeps a symbolic link, and replaces its target.
  const target = await realpath(file).catch(() => file);
  const release = await lock(target, clock);
  try {
    const text = await readFile(target, 'utf8').catch((error) => {
      if (error.code === 'ENOENT') return undefined;
      throw new KubeconfigError(`cannot read ${file}: ${fileProblem(error)}`, { cause: error });
    });
    const config = parseDocument(text?.trim() ? text : EMPTY_KUBECONFIG, { version: '1.1' });
    const [broken] = config.errors;
    if (broken) {
      throw new KubeconfigError(`${file} is not valid YAML: ${broken.message.split('\n')[0]}`, { cause: broken });
    }
    if (!isMap(config.contents)) throw new KubeconfigError(`${file} is not a client configuration`);
    for (const plural of SECTIONS) sectionOf(config, plural, file);
    if (edit(config, text !== undefined)) await replace(target, config.toString({ lineWidth: 0 }));
  } finally {
    await release();
  }
}

const EMPTY_KUBECONFIG = "apiVersion: v1\nkind: Config\nclusters: []\ncontexts: []\nusers: []\ncurrent-context: ''\n";

function put(config: Document, plural: (typeof SECTIONS)[number], name: string, fields: object): void {
  const singular = plural.slice(0, -1);
  let list = config.get(plural) as YAMLSeq | undefined;
  if (!isSeq(list)) {
    list = config.createNode([]) as YAMLSeq;
    config.set(plural, list);
  }
  list.flow = false;
  const found = list.items.find((item) => nameOf(item) === name) as YAMLMap | undefined;
  if (found) found.set(singular, config.createNode(fields));
  else list.add(config.createNode({ [singular]: fields, name }));
}

function sectionOf(config: Document, plural: string, file: string): YAMLSeq | undefined {
  const value = config.get(plural);
  if (value === undefined || value === null) return undefined;
  if (!isSeq(value)) throw new KubeconfigError(`${plural} in ${file} is not a list`);
  return value;
}

function nameOf(item: unknown): unknown {
  const name = isMap(item) ? item.get('name') : undefined;
  return isScalar(name) ? name.value : name;
}

const MAX_LOCK_TRIES = 50;
const LOCK_WAIT_MS = 100;

/** The lock file that kubectl uses: exclusively created beside the kubeconfig. */
async function lock(file: string, clock: Clock): Promise<() => Promise<void>> {
  const path = `${file}.lock`;
  for (let tries = 1; ; tries++) {
    try {
      await (await open(path, 'wx', 0o600)).close();
      return () => unlink(path);
    } catch (error) {
      const taken = (error as NodeJS.ErrnoException).code === 'EEXIST';
      if (!taken) throw new KubeconfigError(`cannot write ${file}: ${(error as Error).message}`, { cause: error });
      if (tries === MAX_LOCK_TRIES) {
        throw new KubeconfigError(`${path} exists: another program is writing ${file}, or one died while it did`);
      }
      await sleep(clock, LOCK_WAIT_MS);
    }
  }
}

async function replace(file: string, text: string): Promise<void> {
  const temporary = `${file}.${process.pid}.tmp`;
  try {
    const handle = await open(temporary, 'w', 0o600);
    try {
      await handle.chmod(0o600);
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw new KubeconfigError(`cannot write ${file}: ${(error as Error).message}`, { cause: error });
  }
}

const base64 = (text: string) => Buffer.from(text).toString('base64');
