/** Reads kubeconfig files: clusters, users, and the contexts that combine them. kubeconfig-file.ts writes them. */
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { parse } from 'yaml';
import { fileProblem } from '../../base/files/file-problem.ts';
import { isHttpUrl } from '../../base/http/http-url.ts';
import { serverList } from './server-list.ts';

/** The address of a cluster and the client's credentials, as the HTTPS transport needs them. */
export interface Connection {
  /** `https://127.0.0.1:6443`, with an optional path. */
  readonly server: string;
  /** Certificate authority as PEM. Default: the authorities of Node. */
  readonly ca?: string;
  /** Client certificate and key as PEM. */
  readonly cert?: string;
  readonly key?: string;
  readonly token?: string;
  readonly username?: string;
  readonly password?: string;
  /** The expected name in the server's certificate, if it differs from the host in `server`. */
  readonly tlsServerName?: string;
  readonly insecureSkipTlsVerify?: boolean;
  /** URLs of all servers of the cluster, where the kubeconfig lists them. */
  readonly servers?: readonly string[];
}

/** The merged files; paths in them are absolute. */
export interface Kubeconfig {
  readonly currentContext: string | undefined;
  readonly contexts: ReadonlyMap<string, ContextEntry>;
  readonly clusters: ReadonlyMap<string, Entry>;
  readonly users: ReadonlyMap<string, Entry>;
}

/** The fields of an entry, with absolute paths. */
type Entry = Readonly<Record<string, unknown>>;

interface ContextEntry {
  readonly cluster: string;
  readonly user: string;
  readonly namespace?: string;
}

/** An error in a kubeconfig, as one line for its user. */
export class KubeconfigError extends Error {
  override readonly name = 'KubeconfigError';
}

/** Reads and merges the files of a KUBECONFIG list: the first that has a name wins. Missing files are skipped. */
export async function loadKubeconfig(files: readonly string[]): Promise<Kubeconfig> {
  const configs: Kubeconfig[] = [];
  for (const file of files) {
    const text = await readFile(file, 'utf8').catch((error) => {
      if (error.code === 'ENOENT') return undefined;
      throw new KubeconfigError(`cannot read ${file}: ${fileProblem(error)}`, { cause: error });
    });
    if (text !== undefined) configs.push(parseKubeconfig(text, file));
  }
  return mergeKubeconfigs(configs);
}

/** Parses one file. Relative paths are resolved against the directory of `file`. */
export function parseKubeconfig(text: string, file: string): Kubeconfig {
  let root: unknown;
  try {
    root = parse(text, { version: '1.1' });
  } catch (error) {
    throw new KubeconfigError(`${file} is not valid YAML: ${firstLine(error)}`, { cause: error });
  }
  if (root === null || root === undefined) root = {};
  if (!isMap(root)) throw new KubeconfigError(`${file} is not a client configuration`);
  const current = root['current-context'];
  const contexts = new Map<string, ContextEntry>();
  for (const [name, entry] of section(root, 'contexts', file)) {
    const namespace = textOf(entry, 'namespace');
    contexts.set(name, {
      cluster: textOf(entry, 'cluster') ?? '',
      user: textOf(entry, 'user') ?? '',
      namespace: namespace || undefined,
    });
  }
  return {
    currentContext: typeof current === 'string' && current ? current : undefined,
    contexts,
    clusters: section(root, 'clusters', file),
    users: section(root, 'users', file),
  };
}

export function mergeKubeconfigs(configs: readonly Kubeconfig[]): Kubeconfig {
  const firstOf = <T>(pick: (config: Kubeconfig) => ReadonlyMap<string, T>) =>
    new Map([...configs].reverse().flatMap((config) => [...pick(config)]));
  return {
    currentContext: configs.find((config) => config.currentContext)?.currentContext,
    contexts: firstOf((config) => config.contexts),
    clusters: firstOf((config) => config.clusters),
    users: firstOf((config) => config.users),
  };
}

/** Returns the connection to the cluster of a context (default: the current one). Reads the files that it refers to. */
export async function connectionOf(
  config: Kubeconfig,
  context: string | undefined = config.currentContext,
): Promise<Connection & { readonly namespace?: string }> {
  if (!context) throw new KubeconfigError('no context is current: name one');
  const entry = config.contexts.get(context);
  if (!entry) throw new KubeconfigError(`context "${context}" does not exist`);
  const cluster = config.clusters.get(entry.cluster);
  if (!cluster) throw new KubeconfigError(`cluster "${entry.cluster}" of context "${context}" does not exist`);
  const user = entry.user ? config.users.get(entry.user) : {};
  if (!user) throw new KubeconfigError(`user "${entry.user}" of context "${context}" does not exist`);
  for (const field of UNSUPPORTED_FIELDS.user) reject(user, field, `user "${entry.user}"`);
  for (const field of UNSUPPORTED_FIELDS.cluster) reject(cluster, field, `cluster "${entry.cluster}"`);
  const server = textOf(cluster, 'server');
  if (!server) throw new KubeconfigError(`cluster "${entry.cluster}" has no server`);
  if (!isHttpUrl(server)) {
    const problem = 'is not a URL such as https://127.0.0.1:6443';
    throw new KubeconfigError(`the server "${server}" of cluster "${entry.cluster}" ${problem}`);
  }
  const tokenFile = await contentOf(user, 'tokenFile');
  const servers = serverList(cluster);
  return defined({
    server,
    ca: await pemOf(cluster, 'certificate-authority'),
    cert: await pemOf(user, 'client-certificate'),
    key: await pemOf(user, 'client-key'),
    token: tokenFile?.trim() || textOf(user, 'token'),
    username: textOf(user, 'username'),
    password: textOf(user, 'password'),
    tlsServerName: textOf(cluster, 'tls-server-name'),
    insecureSkipTlsVerify: cluster['insecure-skip-tls-verify'] === true || undefined,
    servers: servers.length === 0 ? undefined : servers,
    namespace: entry.namespace,
  });
}

/** Fields that change the user or the route: connecting without them would be wrong. */
const UNSUPPORTED_FIELDS = {
  user: ['exec', 'auth-provider', 'as', 'as-uid', 'as-groups', 'as-user-extra'],
  cluster: ['proxy-url'],
} as const;

function reject(entry: Entry, field: string, owner: string): void {
  if (entry[field] !== undefined && entry[field] !== null) {
    throw new KubeconfigError(`${owner} uses "${field}", which is not supported`);
  }
}

const PATH_FIELDS = ['certificate-authority', 'client-certificate', 'client-key', 'tokenFile'];

/** Returns `clusters: [{ name, cluster: {…} }]` as a map; the first entry of a name wins. */
function section(root: Entry, plural: string, file: string): Map<string, Entry> {
  const singular = plural.slice(0, -1);
  const list = root[plural] ?? [];
  if (!Array.isArray(list)) throw new KubeconfigError(`${plural} in ${file} is not a list`);
  const entries = new Map<string, Entry>();
  for (const item of list) {
    const name = isMap(item) ? item.name : undefined;
    if (!isMap(item) || typeof name !== 'string') {
      throw new KubeconfigError(`an entry of ${plural} in ${file} has no name`);
    }
    const fields = item[singular] ?? {};
    if (!isMap(fields)) throw new KubeconfigError(`${singular} "${name}" in ${file} is not a map`);
    if (!entries.has(name)) entries.set(name, absolute(fields, dirname(file)));
  }
  return entries;
}

function absolute(fields: Entry, directory: string): Entry {
  const out: Record<string, unknown> = { ...fields };
  for (const path of PATH_FIELDS) {
    const value = textOf(fields, path);
    if (value) out[path] = resolve(directory, value);
  }
  return out;
}

/** Returns the PEM of a field. Embedded data takes precedence over a file. */
async function pemOf(entry: Entry, field: string): Promise<string | undefined> {
  const data = textOf(entry, `${field}-data`);
  return data ? Buffer.from(data, 'base64').toString('utf8') : contentOf(entry, field);
}

async function contentOf(entry: Entry, field: string): Promise<string | undefined> {
  const path = textOf(entry, field);
  if (!path) return undefined;
  return readFile(path, 'utf8').catch((error) => {
    throw new KubeconfigError(`cannot read ${field} ${path}: ${fileProblem(error)}`, { cause: error });
  });
}

function textOf(entry: Entry, field: string): string | undefined {
  const value = entry[field];
  return typeof value === 'string' && value ? value : undefined;
}

function isMap(value: unknown): value is Entry {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function firstLine(error: unknown): string {
  return String(error instanceof Error ? error.message : error).split('\n')[0] ?? '';
}

type Defined<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

function defined<T extends object>(object: T): Defined<T> {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as Defined<T>;
}
