/**
 * Tests `qd store migrate` while the cluster serves: clients write and watch all the time. `QUARTERDECK_KILLS=20` kills the program so
 * many times while it moves its store.
 */
import { once } from 'node:events';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { etcdMissing } from '../../support/etcd.ts';
import { freePort } from '../../support/free-port.ts';
import { newDirectory, type Qd, runQd, spawnProgram, startQd } from '../program.ts';

const missing = etcdMissing();
if (missing) console.log(`skipped: ${missing}`);

const TIMEOUT_MS = 300_000;
const KILLS = Number(process.env.QUARTERDECK_KILLS ?? 2);
const KILL_TIMEOUT_MS = 60_000 + KILLS * 90_000;
/** The program is killed within so many writes of each client after a move has begun. */
const MAX_WRITES = 30;
const MAPS = '/api/v1/namespaces/default/configmaps';
const NAMES = ['a', 'b', 'c'];
const MERGE = 'application/merge-patch+json';

/** Clients that write one number after the other to an object each, and one that watches all of them from the start. */
class Clients {
  /** The server, which may be another one after a kill. */
  qd: Qd;
  /** The last number that each writer was told is written, and the greatest that may be. */
  readonly written = new Map<string, { acknowledged: number; sent: number }>();
  readonly seen = new Map<string, number[]>();
  readonly problems: string[] = [];
  readonly codes = new Set<number>();
  #version = '';
  #isOver = false;
  #work: Promise<void>[] = [];

  constructor(qd: Qd) {
    this.qd = qd;
  }

  async start(): Promise<void> {
    this.#version = (await this.qd.request('GET', MAPS)).body.metadata.resourceVersion;
    for (const name of NAMES) {
      await this.qd.request('POST', MAPS, { body: { metadata: { name }, data: { n: '0' } } });
      this.written.set(name, { acknowledged: 0, sent: 0 });
      this.seen.set(name, []);
    }
    this.#work = [...NAMES.map((name) => this.#write(name)), this.#watch()];
  }

  /** Resolves when the watcher has seen everything. */
  async stop(): Promise<void> {
    this.#isOver = true;
    const [watching] = this.#work.splice(-1);
    await Promise.all(this.#work);
    await watching;
  }

  async #write(name: string): Promise<void> {
    const state = this.written.get(name)!;
    while (!this.#isOver || state.acknowledged < state.sent) {
      const next = this.#isOver ? state.sent : state.acknowledged + 1;
      state.sent = next;
      const body = { data: { n: String(next) } };
      const code = await this.qd.request('PATCH', `${MAPS}/${name}`, { body, type: MERGE }).then(
        (answer) => answer.code,
        () => 0,
      );
      this.codes.add(code);
      if (code === 200) state.acknowledged = next;
      else await turn();
    }
  }

  /** Resumes after the last version that it has seen, as informers do. */
  async #watch(): Promise<void> {
    while (!this.#isDone()) {
      try {
        const query = `watch=true&resourceVersion=${this.#version}&timeoutSeconds=5`;
        for await (const { type, object } of await this.qd.watch(`${MAPS}?${query}`)) {
          if (type === 'ERROR') this.problems.push(`the watch ended: ${object.message}`);
          if (!this.seen.has(object.metadata?.name)) continue;
          this.#version = object.metadata.resourceVersion;
          this.seen.get(object.metadata.name)!.push(Number(object.data.n));
          if (this.#isDone()) return;
        }
      } catch (error) {
        if (String(error).includes('answered 4')) this.problems.push(String(error));
        await turn();
      }
      if (this.problems.length > 0) return;
    }
  }

  #isDone(): boolean {
    return this.#isOver && [...this.written].every(([name, { sent }]) => this.seen.get(name)?.at(-1) === sent);
  }
}

describe.skipIf(missing)('a cluster whose objects are moved while clients write', () => {
  let directory: string;
  let data: string;
  let clients: Clients;
  let ownEtcd: string[];

  const settings = async () => JSON.parse(await readFile(join(data, 'cluster.json'), 'utf8'));
  const migrate = (...args: string[]) => runQd(['store', 'migrate', '--data-dir', data, ...args]);
  /** Each number was written once: each change is seen exactly once, in order. */
  const check = async () => {
    expect(clients.problems).toEqual([]);
    for (const [name, { acknowledged, sent }] of clients.written) {
      const { body } = await clients.qd.request('GET', `${MAPS}/${name}`);
      expect(Number(body.data.n)).toBe(sent);
      expect(acknowledged).toBe(sent);
      expect(clients.seen.get(name)).toEqual(Array.from({ length: sent + 1 }, (_, n) => n));
    }
  };
  /** Resolves when each writer has written more. */
  const untilWritten = async (more: number) => {
    const goal = new Map([...clients.written].map(([name, { acknowledged }]) => [name, acknowledged + more]));
    const isReached = () => [...goal].every(([name, count]) => clients.written.get(name)!.acknowledged >= count);
    await expect.poll(isReached, { timeout: 60_000, interval: 5 }).toBe(true);
  };

  beforeAll(async () => {
    directory = await newDirectory();
    data = join(directory, 'data');
    ownEtcd = ['--ha', '--etcd-port', String(await freePort()), '--etcd-peer-port', String(await freePort())];
    clients = new Clients(await startQd({ directory }));
    await clients.start();
  }, TIMEOUT_MS);

  afterAll(async () => {
    await clients?.qd.stop();
    await rm(directory, { recursive: true, force: true });
  });

  test('goes to an etcd of its own, back, and to another disk', { timeout: TIMEOUT_MS }, async () => {
    const disk = join(directory, 'disk');
    const moves = [
      ['etcd', ...ownEtcd],
      ['embedded', '--store-dir', disk],
      ['embedded'],
      ['embedded', '--store-dir', join(directory, 'next')],
    ];
    for (const target of moves) {
      await untilWritten(10);
      const { code, stdout, stderr } = await migrate('--to', ...target);
      expect([code, stderr]).toEqual([0, '']);
      const [, milliseconds] = /^Copied \d+ objects from .* writes waited for (\d+) ms\.$/m.exec(stdout) ?? [];
      expect(Number(milliseconds)).toBeLessThan(5_000);
      expect((await settings()).store).toBe(target[0]);
      await untilWritten(10);
    }
    expect((await readdir(data)).filter((name) => name.startsWith('store'))).toEqual([
      expect.stringMatching(/^store\.before-/),
      expect.stringMatching(/^store\.before-/),
    ]);
    expect((await migrate('--to', 'embedded', '--store-dir', disk)).stderr).toContain('is not empty');
    expect((await migrate('--to', 'etcd')).stderr).toContain('--to etcd needs --ha');
    expect((await migrate('--to', 'embedded', '--store-dir', join(directory, 'next'))).stderr).toContain('already');
    // A write that waits too long, or that meets the start on the other store, is repeated.
    for (const code of clients.codes) expect([0, 200, 503]).toContain(code);
  });

  test('has the old store or the new one when it is killed', { timeout: KILL_TIMEOUT_MS }, async () => {
    for (let round = 0; round < KILLS; round++) {
      const { store } = await settings();
      const target = store === 'etcd' ? ['embedded'] : ['etcd', ...ownEtcd];
      const moving = spawnProgram('qd', ['store', 'migrate', '--data-dir', data, '--to', ...target], {});
      let said = '';
      moving.stderr?.on('data', (chunk) => {
        said += chunk;
      });
      const ended = once(moving, 'close');
      await untilWritten(Math.floor(Math.random() * MAX_WRITES));
      await clients.qd.stop('SIGKILL');
      await ended;
      const now = await settings();
      expect([store, target[0]]).toContain(now.store);
      const [, named] = /the next qd up uses (.*)/.exec(said) ?? [];
      if (named !== undefined) expect(named === 'etcd').toBe(now.store === 'etcd');
      clients.qd = await startQd({ directory });
      await untilWritten(5);
    }
  });

  test('has lost no write, and no watch has missed or repeated a change', { timeout: TIMEOUT_MS }, async () => {
    await clients.stop();
    await check();
  });
});
