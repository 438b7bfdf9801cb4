/**
 * The part of a preview that the new release plays: it starts on a copy of a store that it gets on standard input, with no
 * nodes, in memory, unreachable from outside and dialling nobody, and reports what it has made of the copy.
 */
import { createWriteStream } from 'node:fs';
import { Cleanup } from '../../../../assembly/cleanup.ts';
import { type StartedCluster, startCluster } from '../../../../assembly/cluster/start-cluster.ts';
import { encryptedWith, readKeys } from '../../../../assembly/store/encryption.ts';
import { systemRandom } from '../../../../base/random.ts';
import { sleep, systemClock } from '../../../../base/time/clock.ts';
import { httpsTransport } from '../../../../client/transport/http/https-transport.ts';
import { allKinds } from '../../../../kinds/all.ts';
import type { Keyring } from '../../../../store/encryption/keyring.ts';
import type { StoreImage } from '../../../../store/memory/memory-store.ts';
import type { Row, Store } from '../../../../store/store.ts';
import { explain } from '../../../output/cli-error.ts';
import { ownRelease } from '../../../process/version.ts';
import { changesBetween } from './changes.ts';
import { findUnreadable, otherVersions, servedKinds } from './inspect.ts';
import { type CopyHeader, type CopyResult, NO_FINDINGS, RESULT_DESCRIPTOR, receiveCopy } from './messages.ts';
import { COPY_HOST, type Copy, prepareCopy } from './prepare-copy.ts';
import { parseStart } from './start-flags.ts';

const READY_TIMEOUT_MS = 30_000;
const MAX_CHANGES = 5_000;
const MAX_UNREADABLE = 100;

/** Writes the result, and ends the process: timers of the cluster would keep it. */
export async function startCopy(): Promise<void> {
  const { header, image } = await receiveCopy(process.stdin);
  const result = await resultOf(header, image);
  const target = createWriteStream('', { fd: RESULT_DESCRIPTOR });
  target.end(JSON.stringify(result), () => process.exit(0));
}

async function resultOf(header: CopyHeader, image: StoreImage): Promise<CopyResult> {
  const begin = performance.now();
  const { accepted, rejected } = parseStart(header.args);
  const base = { ...NO_FINDINGS, ...ownRelease, rejectedFlags: rejected };
  const cleanup = new Cleanup();
  try {
    const copy = await prepareCopy({ ...header, image, accepted, cleanup });
    const cluster = await startCluster(copy.options);
    cluster.open();
    return { ...base, ...(await watch({ ...copy, cluster, header, begin })) };
  } catch (error) {
    return { ...base, problem: explain(error) };
  } finally {
    await cleanup.run().catch(() => undefined); // The process ends.
  }
}

interface Watched extends Copy {
  readonly cluster: StartedCluster;
  readonly header: CopyHeader;
  /** When the start began. */
  readonly begin: number;
}

/** Waits until the API is ready, reads everything, lets controllers run, and compares. */
async function watch({ cluster, header, begin, before, after, keyFile }: Watched) {
  const { authority: ca, admin } = cluster.keys();
  const server = `https://${COPY_HOST}:${header.port}`;
  const transport = httpsTransport({ server, ca, cert: admin.certificate, key: admin.key });
  try {
    await transport.ready(READY_TIMEOUT_MS);
    const secondsToReady = (performance.now() - begin) / 1_000;
    const keys = await readKeys(keyFile);
    const rowsOf = (store: Store) => decryptedRows(store, keys);
    const rows = await rowsOf(before);
    const served = await servedKinds(transport);
    const unreadable = await findUnreadable(transport, served, rows);
    await cluster.run({ keys: async () => undefined, servers: async () => undefined });
    await sleep(systemClock, header.milliseconds);
    const changes = changesBetween(rows, await rowsOf(after));
    return {
      secondsToReady,
      unreadable: unreadable.slice(0, MAX_UNREADABLE),
      unreadableCount: unreadable.length,
      otherVersions: otherVersions(rows, allKinds),
      apis: served.map(({ apiVersion, kind }) => `${apiVersion} ${kind}`),
      changes: changes.slice(0, MAX_CHANGES),
      moreChanges: Math.max(changes.length - MAX_CHANGES, 0),
      notCalled: rows.flatMap(notCalledIn),
    };
  } finally {
    transport.close();
  }
}

async function decryptedRows(store: Store, keys: Keyring): Promise<readonly Row[]> {
  // Damaged values are named by the list of their kind.
  return (await encryptedWith(store, keys, systemRandom).list('', { damaged: () => undefined })).rows;
}

const OUTSIDE_KEYS =
  /^\/registry\/(?:admissionregistration\.k8s\.io\/((?:mutating|validating)webhookconfigurations)|apiregistration\.k8s\.io\/(apiservices))\/(.+)$/;

/** The names of webhooks and of API servers that other programs serve. */
function notCalledIn({ key, value }: Row): string[] {
  const [, webhooks, services, name = ''] = OUTSIDE_KEYS.exec(key) ?? [];
  if (webhooks !== undefined) return [`${webhooks}/${name}`];
  return services !== undefined && JSON.parse(value.toString()).spec?.service ? [`${services}/${name}`] : [];
}
