/** Figures of Services: rules of thousands of them, and the cost of a cluster IP for a connection. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { silent } from '../src/base/log.ts';
import { systemClock } from '../src/base/time/clock.ts';
import { LocalKernel } from '../src/network/kernel/local-kernel.ts';
import { NftablesProxy } from '../src/network/nftables/nftables-proxy.ts';
import { NO_RULES, type PortRules, type ServiceRules } from '../src/network/rules/rule-set.ts';
import { type Lab, openLab } from '../test/network/lab/lab.ts';
import { median } from './documents.ts';
import type { Figure } from './report.ts';

export interface ServiceFigures {
  /** The project's folder. */
  readonly root: string;
  readonly wanted: (name: string) => boolean;
  readonly record: (figure: Figure) => void;
  readonly say: (text: string) => void;
}

const NFT = '/usr/sbin/nft';
const PERL = '/usr/bin/perl';
const SERVICES = 5_000;
const ENDPOINTS = 3;
const CHANGES = 30;
const MAX_CHANGE_MS = 50;
/** Minimum share of the direct rate. */
const MIN_RATE = 0.9;
const ROUNDS = 5;
const ROUND_MS = 1_000;
const CONNECTIONS = 16;

export async function measureServices({ root, wanted, record, say }: ServiceFigures): Promise<void> {
  const names = ['one change among 5,000 services', 'connections through a cluster IP'];
  if (!names.some(wanted)) return;
  if (process.getuid?.() !== 0 || !existsSync(NFT)) return say('Services are left out: they need root and nft.');
  const lab = await openLab(2, join(root, 'test', 'network', 'lab'));
  const kernel = new LocalKernel({ nft: NFT, perl: PERL, enter: lab.enter });
  const proxy = new NftablesProxy({
    ...{ kernel, table: 'qd-bench', podRanges: lab.podRanges, clock: systemClock, log: silent },
  });
  try {
    await lab.pods[0]!.peer.listen(8080);
    const services = new Map(Array.from({ length: SERVICES }, (_, at) => [`bench/s${at}`, rules(at, 0, lab)]));
    await proxy.apply({ services, serviceRanges: ['10.96.0.0/16'] });
    const times: number[] = [];
    for (let round = 1; round <= CHANGES; round++) {
      const changed = new Map([['bench/s77', rules(77, round, lab)]]);
      const start = performance.now();
      await proxy.apply({ services: changed, serviceRanges: ['10.96.0.0/16'] });
      times.push(performance.now() - start);
    }
    record({ name: names[0]!, unit: 'ms', qd: median(times), promise: MAX_CHANGE_MS });
    const { through, direct } = await rates(lab);
    record({ name: names[1]!, unit: '/s', qd: through, bare: direct, promise: direct * MIN_RATE });
  } finally {
    await proxy.close();
    await lab.stop();
  }
}

/** Every service has other endpoints; the first one has a pod that answers. */
function rules(at: number, round: number, lab: Lab): ServiceRules {
  const endpoints = Array.from({ length: at === 0 ? 1 : ENDPOINTS }, (_, index) => ({
    address: at === 0 ? lab.pods[0]!.address : `10.${100 + index}.${at >> 8}.${(at & 255) ^ (round & 1)}`,
    port: 8080,
    isLocal: at === 0,
  }));
  const port: PortRules = {
    ...{ id: `bench/s${at}:80/TCP/4`, family: 4, protocol: 'tcp', port: 80, affinitySeconds: undefined },
    clusterIP: addressOf(at),
    ...{ internal: { endpoints, otherwise: 'reject' }, external: undefined, serving: endpoints },
  };
  return { ...NO_RULES, ports: [port] };
}

const addressOf = (at: number) => `10.96.${at >> 8}.${at & 255}`;

/** New connections in a second, by turns, so that both see the same machine. */
async function rates(lab: Lab): Promise<{ readonly through: number; readonly direct: number }> {
  const client = lab.pods[1]!.peer;
  const count = async (address: string, port: number) => {
    const end = performance.now() + ROUND_MS;
    let done = 0;
    const one = async () => {
      while (performance.now() < end) {
        await client.request({ protocol: 'tcp', address, port });
        done++;
      }
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, one));
    return (done * 1_000) / ROUND_MS;
  };
  const through: number[] = [];
  const direct: number[] = [];
  await count(lab.pods[0]!.address, 8080);
  for (let round = 0; round < ROUNDS; round++) {
    direct.push(await count(lab.pods[0]!.address, 8080));
    through.push(await count(addressOf(0), 80));
  }
  return { through: median(through), direct: median(direct) };
}
