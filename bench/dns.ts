/** Cluster DNS: the server of the built program in its process, with the records of 5,000 services. */
import { spawn, spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { silent } from '../src/base/log.ts';
import { systemRandom } from '../src/base/random.ts';
import { systemClock } from '../src/base/time/clock.ts';
import { AttachedDaemon } from '../src/network/daemon/attached-daemon.ts';
import { runningDaemons } from '../src/network/daemon/running.ts';
import { serviceRecords } from '../src/network/dns/zone/records.ts';
import { nameBytes } from '../src/protocols/dns-message/name.ts';
import { memoryOf } from './programs.ts';
import type { Figure } from './report.ts';

export interface DnsFigures {
  readonly root: string;
  readonly directory: string;
  readonly seconds: number;
  readonly wanted: (name: string) => boolean;
  readonly record: (figure: Figure) => void;
  readonly say: (text: string) => void;
}

const NAMES = ['DNS answers', 'DNS answer at 20,000/s, p99', 'DNS memory of 5,000 services'];
const SERVICES = 5_000;
const DOMAIN = 'cluster.local';
const RATE = 20_000;
const PROBES_PER_TURN = 4;

export async function measureDns(figures: DnsFigures): Promise<void> {
  const { root, directory, seconds, wanted, record, say } = figures;
  if (!NAMES.some(wanted)) return;
  if (spawnSync('dnsperf', ['-h']).error) {
    say('dnsperf is not installed: DNS is not measured');
    return;
  }
  mkdirSync(directory, { recursive: true });
  const file = join(directory, 'queries');
  writeFileSync(file, Array.from({ length: SERVICES }, (_, index) => `${nameOf(index)} A\n`).join(''));
  const daemon = await AttachedDaemon.open({
    ...{ directory: join(directory, 'network'), command: builtDaemon(root, join(directory, 'network')), release: '' },
    ...{ clock: systemClock, random: systemRandom, log: silent },
    settings: {
      dns: { domain: DOMAIN, ranges: ['10.96.0.0/12'], serviceAddress: '10.96.0.10', clients: [], upstream: [] },
      allowedDialRanges: [],
    },
  });
  const pid = (await runningDaemons(join(directory, 'network')))[0]!;
  const before = memoryOf(pid);
  const port = await daemon.listen({ kinds: ['dns-udp', 'dns-tcp'], address: '127.0.0.1', port: 0 });
  try {
    const zone = Array.from({ length: SERVICES }, (_, index) => ({ source: `${index}`, records: recordsOf(index) }));
    daemon.zone(zone, true);
    await daemon.commit();
    await probe(port, 2_000, new Promise(() => {}));
    const memory = memoryOf(pid) - before;
    const answered = await load(file, port, seconds, []);
    if (wanted(NAMES[0]!)) record({ name: NAMES[0]!, unit: '/s', qd: answered, promise: 20_000 });
    const loaded = load(file, port, seconds, ['-Q', String(RATE)]);
    const times = await probe(port, Number.POSITIVE_INFINITY, loaded);
    const p99 = times.sort((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? 0;
    if (wanted(NAMES[1]!)) record({ name: NAMES[1]!, unit: 'ms', qd: p99, promise: 2 });
    if (wanted(NAMES[2]!)) record({ name: NAMES[2]!, unit: 'MB', qd: memory });
  } finally {
    await daemon.quit();
  }
}

function builtDaemon(root: string, directory: string): readonly string[] {
  const built = readdirSync(join(root, 'dist')).find((name) => /^qd\.network-.*\.js$/.test(name));
  return [process.execPath, join(root, 'dist', built ?? 'qd.network.js'), directory];
}

const nameOf = (index: number) => `svc-${index}.ns-${index % 50}.svc.${DOMAIN}`;

function recordsOf(index: number) {
  const address = `10.${96 + (index >> 16)}.${(index >> 8) & 255}.${index & 255}`;
  const ports = [{ name: 'http', protocol: 'TCP', port: 80 }];
  const service = {
    metadata: { name: `svc-${index}`, namespace: `ns-${index % 50}` },
    spec: { type: 'ClusterIP', clusterIP: address, clusterIPs: [address], ports },
  };
  return serviceRecords(service as unknown as Parameters<typeof serviceRecords>[0], [], DOMAIN);
}

/** Answers in a second, as dnsperf counts them. */
async function load(file: string, port: number, seconds: number, more: readonly string[]): Promise<number> {
  const args = [
    '-s',
    '127.0.0.1',
    '-p',
    String(port),
    '-d',
    file,
    '-l',
    String(seconds),
    '-c',
    '4',
    '-q',
    '64',
    ...more,
  ];
  const child = spawn('dnsperf', args, { stdio: ['ignore', 'pipe', 'ignore'] });
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  await once(child, 'close');
  return Number(/Queries per second:\s+([\d.]+)/.exec(output)?.[1] ?? 0);
}

/** Measures single queries in milliseconds, a few at a time, until there are enough or `ended` resolves. */
async function probe(port: number, count: number, ended: Promise<unknown>): Promise<number[]> {
  const socket = createSocket('udp4');
  socket.connect(port, '127.0.0.1');
  await once(socket, 'connect');
  const times: number[] = [];
  const sentAt = new Map<number, number>();
  let isEnded = false;
  let id = 0;
  void ended.then(() => {
    isEnded = true;
  });
  const send = () => {
    id = (id + 1) % 65_536;
    const header = Buffer.from([id >> 8, id & 255, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
    sentAt.set(id, performance.now());
    socket.send(Buffer.concat([header, nameBytes(nameOf(id % SERVICES)), Buffer.from([0, 1, 0, 1])]));
  };
  const done = new Promise<void>((resolve) => {
    socket.on('message', (message) => {
      times.push(performance.now() - (sentAt.get(message.readUInt16BE(0)) ?? performance.now()));
      sentAt.delete(message.readUInt16BE(0));
      if (isEnded || times.length >= count) resolve();
      else send();
    });
  });
  for (let i = 0; i < PROBES_PER_TURN; i++) send();
  await Promise.race([done, ended]);
  socket.close();
  return times;
}
