/** Rewrites the kubeconfig files of a cluster that runs: its keys and its servers change. */
import { type Access, base64 } from '../../../assembly/rendered-kubeconfig.ts';
import { readIfThere } from '../../../base/files/own/files.ts';
import type { Logger } from '../../../base/log.ts';
import { ownKubeconfig, type Publication, publishAccess, publishedFile, writeAccess, writeOwn } from './kubeconfig.ts';

interface Republishing {
  /** New keys are for the user's file as well, whatever it says. */
  keys(): Promise<void>;
  /** Never rejects: the cluster can be used without. */
  servers(): Promise<void>;
}

/** Performs one change after the other, each with the access as it is then. */
export function republishing(current: () => Publication, log: Logger): Republishing {
  let previous: Promise<unknown> = Promise.resolve();
  const inTurn = (work: () => Promise<unknown>): Promise<void> => {
    const done = previous.then(work).then(() => undefined);
    previous = done.catch(() => undefined);
    return done;
  };
  return {
    keys: () => inTurn(() => publishAccess(current(), () => {})),
    servers: () =>
      inTurn(() => republishServers(current())).catch((error: unknown) =>
        log.warn('the list of servers was not written to the kubeconfig', { error }),
      ),
  };
}

/** Leaves the user's file alone when the context was removed there, or leads to another server. */
async function republishServers({ access, file, directory, clock }: Publication): Promise<void> {
  await writeOwn(ownKubeconfig(directory), access);
  const users = publishedFile(file);
  if (await leadsTo(access, users)) await writeAccess(users, access, clock);
}

async function leadsTo({ name, server, ca }: Access, file: string): Promise<boolean> {
  const text = (await readIfThere(file)) ?? '';
  if (!text.includes(server) || !text.includes(base64(ca))) return false;
  const { parseKubeconfig } = await import('../../../client/kubeconfig/kubeconfig.ts');
  return parseKubeconfig(text, file).clusters.get(name)?.server === server;
}
