/** Answers for a server of which neither release starts, so that those who upgrade it from elsewhere learn the reason. */
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type ServerOptions } from 'node:https';
import { join } from 'node:path';
import { type MachineReport, UPGRADE_PATH } from '../../../../api/machine-upgrade.ts';
import { pemOf, readIdentity } from '../../../../assembly/keys/pki.ts';
import { type Clock, sleep } from '../../../../base/time/clock.ts';
import { installedUnits } from '../../../clusters/service/units.ts';
import { findClusterProcess } from '../../../process/cluster-process.ts';
import { rememberedIn } from '../../directory/directory.ts';
import { readRecord } from '../record.ts';

/** Those who wait ask twice a second. */
const ANSWERING_MS = 15_000;

/** Resolves when it has answered for long enough, or there is nothing to answer for: its program runs, or systemd starts it again. */
export async function answerForStopped(directory: string, clock: Clock): Promise<void> {
  const record = await readRecord(directory);
  if (record?.state !== 'failed' || (await findClusterProcess(directory))) return;
  if ((await installedUnits()).some((each) => each.directory === directory)) return;
  const { bindAddress: host = '127.0.0.1', port } = await rememberedIn(directory);
  const identity = await identityIn(join(directory, 'pki'));
  if (port === undefined || !identity) return;
  const report: MachineReport = { version: record.from, accepts: 'off', last: record };
  const server = createServer(identity, ({ method, url }, response) => {
    const isAsked = method === 'GET' && url === UPGRADE_PATH;
    response.writeHead(isAsked ? 200 : 503, { 'content-type': 'application/json', connection: 'close' });
    response.end(JSON.stringify(isAsked ? report : { message: record.message }));
  });
  server.listen(port, host);
  await once(server, 'listening');
  await sleep(clock, ANSWERING_MS);
  server.close();
  server.closeAllConnections();
}

/** Clients need a certificate of the cluster's authority. */
async function identityIn(pki: string): Promise<ServerOptions | undefined> {
  const serving = await readIdentity(pki, 'apiserver');
  if (!serving) return undefined;
  const ca = await readFile(join(pki, 'ca.crt'), 'utf8');
  const { certificate, key } = serving;
  return { cert: certificate, key: pemOf(key), ca, requestCert: true, rejectUnauthorized: true };
}
