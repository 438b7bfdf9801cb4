/**
 * Runs the tests of this folder with the newest kubectl, and those on the short list with the oldest, too, in turn on the
 * embedded store and on etcd. One file has one server for each store, and each kubectl a separate namespace.
 */
import { execFile, spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { parse, stringify } from 'yaml';
import type { StoreName } from '../../../src/store/drivers.ts';
import { backendMissing, durableStores } from '../../support/store/backends.ts';
import { type Kubectl, kubectls, usualKubectls } from '../kubectl.ts';
import type { Qd } from '../program.ts';
import { onEveryStore } from '../stores.ts';

interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Warnings that Kubernetes 1.36 prints, too, whatever is done with the object. */
const USUAL = /^Warning: v1 Endpoints is deprecated in v1\.33\+.*\n/gm;

/** A kubectl at work in its namespace. */
export class Driver {
  readonly namespace: string;
  readonly isNewest: boolean;
  readonly #program: string;
  readonly #server: () => Qd;
  readonly #home: () => string;

  constructor({ program, isNewest, name }: Kubectl, server: () => Qd, home: () => string) {
    this.namespace = `with-${name}`;
    this.isNewest = isNewest;
    this.#program = program;
    this.#server = server;
    this.#home = home;
  }

  get qd(): Qd {
    return this.#server();
  }

  /** Makes its namespace, and a kubeconfig that goes there. */
  async start(): Promise<void> {
    const name = this.namespace;
    const { code } = await this.qd.request('POST', '/api/v1/namespaces', { body: { metadata: { name } } });
    if (code !== 200) throw new Error(`the namespace was answered with ${code}`);
    const config = parse(await readFile(this.qd.kubeconfig, 'utf8'));
    for (const { context } of config.contexts) context.namespace = name;
    await mkdir(join(this.#home(), name));
    await writeFile(join(this.#home(), name, 'kubeconfig'), stringify(config));
  }

  /** Returns its output. It must succeed without errors and warnings. */
  async run(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await this.outcome(...args);
    if (code !== 0 || stderr !== '') throw new Error(`kubectl ${brief(args)} ended with ${code}: ${stderr}`);
    return stdout.trim();
  }

  /** Works like `run` for a command that causes a warning, and nothing else. */
  async warned(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await this.outcome(...args);
    const isWarning =
      stderr !== '' &&
      stderr
        .trim()
        .split('\n')
        .every((line) => line.startsWith('Warning: '));
    if (code !== 0 || !isWarning) throw new Error(`kubectl ${brief(args)} ended with ${code}: ${stderr}`);
    return stdout.trim();
  }

  /** Returns the output in lines, with one space for each gap. */
  async lines(...args: string[]): Promise<string[]> {
    return (await this.run(...args)).split('\n').map((line) => line.trim().replace(/ {2,}/g, ' '));
  }

  /** Returns its error output. */
  async fails(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await this.outcome(...args);
    if (code === 0) throw new Error(`kubectl ${brief(args)} succeeded: ${stdout}`);
    return stderr.trim();
  }

  outcome(...args: string[]): Promise<Outcome> {
    return this.with({}, ...args);
  }

  with(env: NodeJS.ProcessEnv, ...args: string[]): Promise<Outcome> {
    return new Promise((resolve) => {
      const options = { env: { ...this.#env(), ...env }, cwd: this.#home(), maxBuffer: 1 << 26 };
      const child = execFile(this.#program, args, options, (error, stdout, stderr) => {
        const code = error ? (child.exitCode ?? 1) : 0;
        resolve({ code, stdout, stderr: stderr.replaceAll(USUAL, '') });
      });
    });
  }

  /** Yields its lines as they come, until the caller stops. */
  follow(...args: string[]): { next: () => Promise<string>; stop: () => void } {
    const child = spawn(this.#program, args, { env: this.#env(), stdio: ['ignore', 'pipe', 'pipe'] });
    // A program that inherits an output of this process would keep the whole run from ending while it runs.
    child.stderr.pipe(process.stderr, { end: false });
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    return {
      next: async () =>
        String((await lines.next()).value)
          .trim()
          .replace(/ {2,}/g, ' '),
      stop: () => child.kill(),
    };
  }

  /** A file of this run with these objects or this text; returns its path. */
  async file(name: string, content: string | object | readonly object[]): Promise<string> {
    const path = join(this.#home(), `${this.namespace}-${name}`);
    const list = (items: readonly object[]) => ({ apiVersion: 'v1', kind: 'List', items });
    const text = Array.isArray(content) ? JSON.stringify(list(content)) : JSON.stringify(content);
    await writeFile(path, typeof content === 'string' ? content : text, { mode: 0o755 });
    return path;
  }

  /** Environment with the discovery cache in a folder of this run. */
  #env(): NodeJS.ProcessEnv {
    const home = join(this.#home(), this.namespace);
    return { ...process.env, HOME: home, KUBECONFIG: join(home, 'kubeconfig') };
  }
}

/** The command in a message, without the files that it is about. */
function brief(args: readonly string[]): string {
  return args.filter((arg, at) => arg !== '-f' && args[at - 1] !== '-f').join(' ');
}

/** Declares tests of the short list: once for each kubectl, in turn on one of the stores. */
export function withEveryKubectl(tests: (kubectl: Driver) => void): void {
  declare(tests, kubectls);
}

/** Declares tests for the newest kubectl, or for each one when all releases are asked for. */
export function withKubectl(tests: (kubectl: Driver) => void): void {
  declare(tests, usualKubectls);
}

/** Each kubectl has one store: stores have a contract of their own, and a client does not see which one serves it. */
function declare(tests: (kubectl: Driver) => void, programs: readonly Kubectl[]): void {
  const stores = durableStores.filter((store) => backendMissing(store) === undefined);
  const programsOn = (store: StoreName) => programs.filter((_, index) => stores[index % stores.length] === store);
  const used = stores.filter((store) => programsOn(store).length > 0);
  onEveryStore((server, store) => {
    let home: string;
    beforeAll(async () => {
      home = await mkdtemp(join(tmpdir(), 'qd-kubectl-'));
    });
    afterAll(() => rm(home, { recursive: true, force: true }));
    describe.each(programsOn(store))('the $name kubectl', (kubectl) => {
      const driver = new Driver(kubectl, server, () => home);
      beforeAll(() => driver.start());
      tests(driver);
    });
  }, used);
  // A file without any test is an error.
  if (used.length === 0) test.skip('there is no kubectl', () => {});
}

/** A deployment that asks for nothing special. */
export function deployment(name: string, apiVersion = 'apps/v1'): object {
  const labels = { app: name };
  return {
    apiVersion,
    kind: 'Deployment',
    metadata: { name },
    spec: {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'nginx:1.27' }] } },
    },
  };
}

/** kubectl sends fields that are empty each time anew: they are left out. */
export function configMap(name: string, data: Readonly<Record<string, string>>, labels?: object): object {
  const filled = Object.keys(data).length > 0 ? { data } : {};
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: labels ? { name, labels } : { name }, ...filled };
}
