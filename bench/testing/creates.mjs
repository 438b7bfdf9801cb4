/**
 * Measures creates in the first three seconds of a process, as a share of the rate of the same process when it is warm, and
 * prints it as JSON. Its argument is the built module.
 */
import { performance } from 'node:perf_hooks';
import { pathToFileURL } from 'node:url';

const COLD_MS = 3_000;
const WARM_UP_MS = 6_000;
const WARM_MS = 3_000;
const CONCURRENT = 16;

const begin = performance.now();
const { Cluster } = await import(pathToFileURL(process.argv[2]));
const cluster = await Cluster.start({ seed: 1, nodes: 0 });
const pods = cluster.client.of('Pod').in('default');
let created = 0;

/** Creates until the time is over; resolves with the number by second. */
async function createUntil(end) {
  const from = created;
  const start = performance.now();
  const worker = async () => {
    while (performance.now() < end) {
      const name = `pod-${created++}`;
      await pods.create({ metadata: { name }, spec: { containers: [{ name: 'c', image: 'nginx' }] } });
    }
  };
  await Promise.all(Array.from({ length: CONCURRENT }, worker));
  return (created - from) / ((performance.now() - start) / 1000);
}

const cold = await createUntil(begin + COLD_MS);
await createUntil(begin + COLD_MS + WARM_UP_MS);
const warm = await createUntil(begin + COLD_MS + WARM_UP_MS + WARM_MS);
await cluster.stop();
process.stdout.write(JSON.stringify({ coldPerSecond: cold, warmPerSecond: warm, coldPercent: (cold / warm) * 100 }));
