/**
 * There is one reconcile loop, in src/base/reconcile/: keys in a queue, own writes, retries with back-off. Other code gives
 * it a function and wakes keys; it neither has a queue nor waits for another attempt.
 */
import { expect, test } from 'vitest';
import { analyse, isTest, type Source, sourcesBelow } from './source.ts';

const LOOP = 'src/base/reconcile/';

interface Rule {
  readonly what: string;
  readonly pattern: RegExp;
  /** Reports whether the rule holds in a file: it does not where the thing is defined. */
  readonly holdsIn: (path: string) => boolean;
  /** Files that do not reconcile, with what they do instead. */
  readonly others: Readonly<Record<string, string>>;
}

const RULES: readonly Rule[] = [
  { what: 'a queue of keys', pattern: /\bnew WorkQueue\b/, holdsIn: () => true, others: {} },
  {
    what: 'retries with back-off',
    pattern: /\bnew Backoff\(|\bbackoffDelay\(/,
    holdsIn: (path) => path !== 'src/base/time/backoff.ts',
    others: {
      'src/assembly/etcd/supervisor.ts': 'starts a process again',
      'src/backup/targets/s3/client.ts': 'repeats a request a limited number of times',
      'src/client/events/event-recorder.ts': 'delivers events, each once and in order',
      'src/client/informer/reflector.ts': 'keeps one connection open',
      'src/network/daemon/attached-daemon.ts': 'starts a process again',
      'src/scheduler/queue/scheduling-queue.ts': 'orders pods by priority, and moves them when the cluster changes',
      'src/server/access/audit/webhook.ts': 'delivers audit events, each batch a limited number of times',
    },
  },
  {
    what: 'work after a burst of changes',
    pattern: /\bsoon\(/,
    holdsIn: (path) => path !== 'src/base/event-loop/soon.ts',
    others: {
      'src/base/event-loop/paced-tasks.ts': 'runs tasks once, in order',
      'src/assembly/cluster-network/dns.ts': 'reports the addresses of nodes, which cannot fail',
      'src/network/dns/feed/zone-feed.ts': 'reports changes, which cannot fail',
      'src/server/serving/http/front/front-thread.ts': 'reports the number of connections',
      'src/server/serving/http/listen/connections.ts': 'counts disconnects',
    },
  },
  {
    what: 'a wait for the next attempt',
    // A delay of that name, or a timer that does the work.
    pattern:
      /\b(?:timer|sleep)\((?:(?:[\w.#]+, )?[\w.#]*(?:retry|interval|period|renew)|[^\n]*=> (?:void )?this\.#(?:check|keep|look|reconcile|sync)\w*\()/i,
    holdsIn: (path) => /^src\/(?:controllers|federation|server)\//.test(path),
    others: {
      'src/server/access/audit/log-file.ts': 'writes what has been collected',
      'src/server/objects/reads/watch-backlogs.ts': 'ends watches whose clients do not read',
    },
  },
];

function secondLoops({ path, code }: Source): string[] {
  if (isTest(path) || path.startsWith(LOOP)) return [];
  return RULES.filter(({ holdsIn, pattern }) => holdsIn(path) && pattern.test(code))
    .filter(({ others }) => !(path in others))
    .map(({ what }) => `${path}: ${what}`);
}

const sources = sourcesBelow('src');

test('nothing reconciles beside the reconcile loop', () => {
  expect(sources.length).toBeGreaterThan(1000);
  expect(sources.flatMap(secondLoops)).toEqual([]);
});

test('what is listed as something else is still there', () => {
  const unused = RULES.flatMap(({ others, pattern }) =>
    Object.keys(others).filter((path) => !pattern.test(sources.find((source) => source.path === path)?.code ?? '')),
  );
  expect(unused).toEqual([]);
});

test.each([
  ['src/federation/controllers/a.ts', 'const queue = new WorkQueue({ clock, random });', 1],
  ['src/node/agent/a.ts', 'this.#backoff = new Backoff(RETRY, random);', 1],
  ['src/server/upkeep/a.ts', 'const plan = soon(() => void this.#reconcile());', 1],
  ['src/server/upkeep/a.ts', 'this.#renewal = clock.timer(RENEW_INTERVAL_MS, () => void this.#renew());', 1],
  ['src/server/serving/a.ts', 'followed.timer = core.clock.timer(delay, () => this.#check(followed));', 1],
  ['src/federation/controllers/a.ts', 'await sleep(clock, periodMs, ended);', 1],
  ['src/controllers/cleanup/a.ts', 'await sleep(tools.clock, RETRY_MS);', 1],
  ['src/server/upkeep/a.ts', 'const timer = clock.timer(TIMEOUT_MS, () => timeout.abort());', 0],
  ['src/federation/controllers/a.ts', 'const loop = new ReconcileLoop({ clock, random, reconcile });', 0],
  ['src/base/reconcile/reconcile-loop.ts', 'this.#queue = new WorkQueue(options);', 0],
])('%s with %s', (path, text, findings) => {
  expect(secondLoops({ path, ...analyse(text) })).toHaveLength(findings);
});
