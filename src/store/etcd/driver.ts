import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { fileProblem } from '../../base/files/file-problem.ts';
import { FlagError, flag, type ValuesOf } from '../../base/flag.ts';
import type { TlsOptions } from '../../protocols/grpc/client.ts';
import { defineStore, type StoreContext, type StoredValue } from '../driver.ts';
import { type Store, StoreUnavailable } from '../store.ts';

const flags = [
  flag('--etcd-servers <urls>', {
    help: 'URLs of the etcd servers, separated by commas',
    parse: urls,
    remembered: true,
  }),
  flag('--etcd-cafile <file>', {
    help: "certificate authorities that sign etcd's certificates",
    defaultText: 'those that Node trusts',
    parse: absolute,
    remembered: true,
  }),
  flag('--etcd-certfile <file>', {
    help: 'client certificate to present to etcd; needs --etcd-keyfile',
    parse: absolute,
    remembered: true,
  }),
  flag('--etcd-keyfile <file>', {
    help: 'private key of that certificate',
    parse: absolute,
    remembered: true,
  }),
] as const;

type EtcdSettings = ValuesOf<typeof flags>;

export const etcdDriver = defineStore({
  name: 'etcd',
  location: 'etcd',
  durable: true,
  shared: true,
  exclusive: false,
  flags,
  check({ etcdServers, etcdCertfile, etcdKeyfile }) {
    if (!etcdServers) throw new FlagError('--store etcd needs --etcd-servers');
    if ((etcdCertfile === undefined) !== (etcdKeyfile === undefined)) {
      throw new FlagError('--etcd-certfile and --etcd-keyfile must be given together');
    }
  },
  open: openAny,
  async beginCopy(settings, context, base) {
    const { beginEtcdCopy } = await import('./revisions/copy.ts');
    const store = await open(settings, context);
    return beginEtcdCopy(store, base).catch(async (error: unknown) => {
      await store.close();
      throw error;
    });
  },
  async inspect(settings, context) {
    const store = await openAny(settings, context);
    let revision = 0;
    return {
      async visit(visit) {
        revision = await visitNewest(store, visit);
      },
      // etcd cannot list past values.
      forgetUnreadableHistory: () => store.compact(revision),
      close: () => store.close(),
    };
  },
  snapshots: { instead: 'etcdctl snapshot save and restore do this for etcd' },
});

/** Opens the store with the revisions of the store that was copied into it, if one was. */
async function openAny(settings: EtcdSettings, context: StoreContext): Promise<Store> {
  const store = await open(settings, context);
  try {
    const { readNumbering } = await import('./revisions/record.ts');
    const numbering = await readNumbering(store);
    if (!numbering) return store;
    const { RenumberedStore } = await import('./revisions/renumbered-store.ts');
    return new RenumberedStore(store, numbering);
  } catch (error) {
    await store.close();
    throw error;
  }
}

async function open(settings: EtcdSettings, { directory: _, ...options }: StoreContext): Promise<Store> {
  const [{ EtcdStore }, tls] = await Promise.all([import('./etcd-store.ts'), tlsOf(settings)]);
  const endpoints = settings.etcdServers ?? [];
  try {
    return await EtcdStore.open({ ...options, endpoints, tls });
  } catch (cause) {
    if (!(cause instanceof StoreUnavailable)) throw cause;
    throw new StoreUnavailable(`${cause.message} (--etcd-servers ${endpoints.join(',')})`, { cause });
  }
}

const PAGE_ROWS = 500;

async function visitNewest(store: Store, visit: (stored: StoredValue) => void): Promise<number> {
  let page = await store.list('', { limit: PAGE_ROWS });
  const { revision } = page;
  for (;;) {
    for (const { key, value } of page.rows) visit({ key, value, isNewest: true });
    const after = page.rows.at(-1)?.key;
    if (!page.more || after === undefined) return revision;
    page = await store.list('', { limit: PAGE_ROWS, revision, after });
  }
}

/** Returns the TLS options; undefined when no file is set. */
async function tlsOf({ etcdCafile, etcdCertfile, etcdKeyfile }: EtcdSettings): Promise<TlsOptions | undefined> {
  if (etcdCafile === undefined && etcdCertfile === undefined) return undefined;
  const [ca, cert, key] = await Promise.all([
    contentOf('--etcd-cafile', etcdCafile),
    contentOf('--etcd-certfile', etcdCertfile),
    contentOf('--etcd-keyfile', etcdKeyfile),
  ]);
  return { ca, cert, key };
}

async function contentOf(name: string, file: string | undefined): Promise<Buffer | undefined> {
  if (file === undefined) return undefined;
  const content = await readFile(file).catch((cause: unknown) => {
    throw new FlagError(`${name} ${file} cannot be read: ${fileProblem(cause)}`, { cause });
  });
  if (!content.includes('-----BEGIN ')) throw new FlagError(`${name} ${file} cannot be used: it is not PEM`);
  return content;
}

/** Makes a path absolute: the data directory saves it, and the next start may use another working directory. */
function absolute(file: string): string {
  return resolve(file);
}

function urls(text: string): readonly string[] {
  const list = text.split(',').map((part) => part.trim());
  for (const url of list) {
    if (!/^https?:\/\/[^/,\s]+\/?$/.test(url) || !URL.canParse(url)) {
      throw new FlagError('It must be URLs such as http://127.0.0.1:2379, separated by commas.');
    }
  }
  return list.map((url) => url.replace(/\/$/, ''));
}
