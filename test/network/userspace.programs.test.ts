/** Rules served with sockets, on loopback addresses. */
import { describe } from 'vitest';
import { silent } from '../../src/base/log.ts';
import { systemRandom } from '../../src/base/random.ts';
import { systemClock } from '../../src/base/time/clock.ts';
import { UserspaceProxy } from '../../src/network/userspace/userspace-proxy.ts';
import { freePort } from '../support/free-port.ts';
import { describeApplier, type Site } from './contract.ts';
import { Peer } from './lab/peer.ts';

async function openSite(): Promise<Site> {
  const applier = new UserspaceProxy({ clock: systemClock, random: systemRandom, log: silent });
  const client = new Peer('client');
  const backends = await Promise.all(
    ['one', 'three', 'two'].map(async (name) => {
      const peer = new Peer(name);
      return { peer, address: '127.0.0.1', port: await peer.listen(0, '127.0.0.1') };
    }),
  );
  const nodePorts = [await freePort(), await freePort()];
  return {
    ...{ applier, client, backends },
    clusterIP: (index) => `127.96.${process.pid % 250}.${index + 10}`,
    nodePortAddress: '127.0.0.1',
    nodePort: (index) => nodePorts[index]!,
    async stop() {
      await applier.close();
      await Promise.all([client, ...backends.map(({ peer }) => peer)].map((peer) => peer.stop()));
    },
  };
}

describe('the user-space proxy', () => describeApplier(openSite));
