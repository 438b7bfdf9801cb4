/** Rules as nftables, with real packets between network namespaces. */
import { existsSync } from 'node:fs';
import { describe } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { silent } from '../../src/base/log.ts';
import { LocalKernel } from '../../src/network/kernel/local-kernel.ts';
import { NftablesProxy } from '../../src/network/nftables/nftables-proxy.ts';
import { describeApplier, type Site } from './contract.ts';
import { openLab } from './lab/lab.ts';

const NFT = '/usr/sbin/nft';
const PERL = '/usr/bin/perl';
const TABLE = 'qd-test';

const canRun = process.getuid?.() === 0 && existsSync(NFT) && existsSync('/usr/sbin/ip') && existsSync(PERL);
if (!canRun && process.env.CI === 'true') throw new Error('the tests of nftables need root, nft, ip and perl');

async function openSite(): Promise<Site> {
  const lab = await openLab(3);
  const kernel = new LocalKernel({ nft: NFT, perl: PERL, enter: lab.enter });
  const applier = new NftablesProxy({
    ...{ kernel, table: TABLE, podRanges: lab.podRanges, clock: systemClock, log: silent },
  });
  const backends = await Promise.all(
    lab.pods.map(async ({ peer, address }) => ({ peer, address, port: await peer.listen(8080) })),
  );
  return {
    ...{ applier, backends, client: lab.node },
    clusterIP: (index) => `10.96.0.${index + 10}`,
    nodePortAddress: lab.nodeAddress,
    nodePort: (index) => 30_100 + index,
    async stop() {
      await applier.close();
      await lab.stop();
    },
  };
}

describe.skipIf(!canRun)('nftables (needs root, nft, ip and perl)', () => {
  describeApplier(openSite);
});
