/** Drives the built program as its users do: over its flags, its output, its signals and its HTTPS port. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import type { IncomingHttpHeaders } from 'node:http';
import { Agent, request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const DIST = join(import.meta.dirname, '..', '..', 'dist');

/** Home directory that keeps the developer's own clusters and kubeconfig out of the tests. */
const HOME = join(tmpdir(), 'qd-e2e-home');

export interface StartOptions {
  /** Default: a new one, which stop() removes. */
  readonly directory?: string;
  readonly flags?: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  /** Run as this user; only root can ask for it. */
  readonly uid?: number;
  /** The Node that runs it; by default the one that runs the test. */
  readonly node?: string;
  /** The folder of another program than the one that was built. */
  readonly dist?: string;
  /** A command that runs another one elsewhere, for example in a network namespace. */
  readonly enter?: readonly string[];
}

interface Answer {
  readonly code: number;
  readonly type: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** Parsed where it is JSON. */
  readonly body: any;
}

export interface RequestOptions {
  readonly body?: unknown;
  /** Type of the body; default JSON. A string is sent as it is. */
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Qd {
  readonly origin: string;
  readonly directory: string;
  readonly kubeconfig: string;
  readonly child: ChildProcess;
  /** Returns the output of the program so far. */
  output(): string;
  request(method: string, path: string, options?: RequestOptions): Promise<Answer>;
  /** The lines of a response, as they come, until the caller has enough. */
  lines(path: string): Promise<AsyncGenerator<string>>;
  /** The lines of a watch, parsed, until the caller has enough. */
  watch(path: string): Promise<AsyncGenerator<any>>;
  /** Watches a collection until one of its objects satisfies the condition, and resolves with that. */
  until(collection: string, condition: (object: any) => boolean): Promise<any>;
  /** Waits until a collection has no object of this name, by watching it. */
  untilGone(collection: string, name: string): Promise<void>;
  /** Sends the signal, waits for the end, and resolves with the exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

/** A directory that holds a cluster's data and its kubeconfig. */
export function newDirectory(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'qd-e2e-'));
}

export async function startQd({
  directory,
  flags = [],
  env = {},
  node,
  dist,
  uid,
  enter = [],
}: StartOptions = {}): Promise<Qd> {
  const home = directory ?? (await newDirectory());
  const data = join(home, 'data');
  const kubeconfig = join(home, 'kubeconfig');
  // Most tests need only the API server; flags that are given later win.
  const where = ['--data-dir', data, '--port', '0', '--kubeconfig', kubeconfig, '--nodes', '0'];
  const child = spawnProgram('qd', ['up', ...where, '--log-level', 'warn', ...flags], {
    env,
    node,
    enter,
    ...(dist === undefined ? {} : { dist }),
    ...(uid === undefined ? {} : { uid, env: { ...env, HOME: home } }),
  });
  let said = '';
  const origin = await new Promise<string>((resolve, reject) => {
    const onData = (chunk: Buffer) => {
      said += chunk;
      const ready = /^Ready .*(https:\S+)/m.exec(said);
      if (ready) resolve(ready[1]!);
    };
    child.stdout?.on('data', onData);
    child.stderr?.on('data', onData);
    child.on('exit', (code) => reject(new Error(`qd ended with ${code}: ${said}`)));
  });
  const agent = await adminAgent(data);
  return {
    origin,
    directory: home,
    kubeconfig,
    child,
    output: () => said,
    request: (method, path, options) => send({ origin, agent, method, path, ...options }),
    watch: (path) => openWatch(origin + path, agent),
    lines: (path) => openLines(origin + path, agent),
    async until(collection, condition) {
      for await (const { object } of await openWatch(`${origin}${collection}?watch=true`, agent)) {
        if (condition(object)) return object;
      }
      throw new Error(`the watch of ${collection} ended`);
    },
    async untilGone(collection, name) {
      const named = `${collection}?fieldSelector=metadata.name%3D${name}`;
      const { items, metadata } = (await send({ origin, agent, method: 'GET', path: named })).body;
      if (items.length === 0) return;
      const watch = await openWatch(`${origin}${named}&watch=true&resourceVersion=${metadata.resourceVersion}`, agent);
      for await (const { type } of watch) if (type === 'DELETED') return;
      throw new Error(`the watch of ${collection} ended`);
    },
    async stop(signal = 'SIGTERM') {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill(signal);
        await once(child, 'exit');
      }
      agent.destroy();
      if (directory === undefined) await rm(home, { recursive: true, force: true });
      return child.exitCode;
    },
  };
}

export interface RunOptions {
  readonly env?: NodeJS.ProcessEnv;
  readonly node?: string | undefined;
  readonly dist?: string;
  /** Run as this user; only root can ask for it. */
  readonly uid?: number;
  /** Stop it after this many milliseconds. */
  readonly timeout?: number;
  /** A command that runs another one elsewhere. */
  readonly enter?: readonly string[];
}

/** Runs the program to its end. */
export async function runQd(
  args: readonly string[],
  { program = 'qd', ...options }: RunOptions & { program?: 'qd' | 'qdfed' } = {},
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = spawnProgram(program, args, options);
  const said = { stdout: '', stderr: '' };
  child.stdout?.on('data', (chunk) => {
    said.stdout += chunk;
  });
  child.stderr?.on('data', (chunk) => {
    said.stderr += chunk;
  });
  const [code] = await once(child, 'close');
  return { code, ...said };
}

/** Runs `qd up` until the cluster is ready, stops it, and resolves with its output. */
export async function runUntilReady(
  flags: readonly string[],
  env: NodeJS.ProcessEnv = {},
  options: Pick<RunOptions, 'uid'> = {},
): Promise<string> {
  const child = spawnProgram('qd', ['up', '--log-level', 'warn', ...flags], { env, ...options });
  let said = '';
  child.stderr?.on('data', (chunk) => {
    said += chunk;
  });
  child.stdout?.on('data', (chunk) => {
    said += chunk;
    if (said.includes('\nReady ')) child.kill('SIGTERM');
  });
  await once(child, 'close');
  return said;
}

export function spawnProgram(name: 'qd' | 'qdfed', args: readonly string[], options: RunOptions): ChildProcess {
  const { env, uid, timeout, node = process.execPath, enter = [], dist = DIST } = options;
  const program = join(dist, `${name}.js`);
  if (!existsSync(program)) throw new Error(`${program} is missing: run npm run build`);
  const [first = node, ...rest] = [...enter, node, program, ...withRuntime(args)];
  return spawn(first, rest, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, HOME, ...env },
    timeout,
    ...(uid === undefined ? {} : { uid, gid: uid }),
  });
}

/** Adds a runtime, so that a test never runs real pods unless it asks for them, whatever is installed. */
function withRuntime(args: readonly string[]): readonly string[] {
  const [command, ...flags] = args;
  if (command !== 'up' || flags.some((flag) => /^--(runtime|help)\b/.test(flag))) return args;
  return ['up', '--runtime', 'simulated', ...flags];
}

async function adminAgent(data: string): Promise<Agent> {
  const read = (name: string) => readFile(join(data, 'pki', name), 'utf8');
  const [ca, cert, key] = await Promise.all([read('ca.crt'), read('admin.crt'), read('admin.key')]);
  return new Agent({ ca, cert, key, keepAlive: true });
}

interface Send extends RequestOptions {
  readonly origin: string;
  readonly agent: Agent;
  readonly method: string;
  readonly path: string;
}

function send({ origin, agent, method, path, body, type = 'application/json', headers = {} }: Send): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const bytes = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
    // Node frames the body of a DELETE only when it is given its length.
    const framing = bytes === undefined ? {} : { 'content-type': type, 'content-length': Buffer.byteLength(bytes) };
    const sent = { ...framing, ...headers };
    const call = request(origin + path, { method, agent, headers: sent }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        const answered = response.headers['content-type'];
        const isJson = answered?.startsWith('application/json') === true;
        const { statusCode: code = 0, headers: received } = response;
        resolve({ code, type: answered, headers: received, text, body: isJson ? parseBody(text) : text });
      });
    });
    call.on('error', reject);
    call.end(bytes);
  });
}

/** A watch that has ended is many lines, each an object. */
function parseBody(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line));
  }
}

async function openWatch(url: string, agent: Agent): Promise<AsyncGenerator<any>> {
  const lines = await openLines(url, agent);
  return (async function* parsed() {
    for await (const line of lines) yield JSON.parse(line);
  })();
}

function openLines(url: string, agent: Agent): Promise<AsyncGenerator<string>> {
  return new Promise((resolve, reject) => {
    const call = request(url, { agent }, (response) => {
      if (response.statusCode !== 200) return reject(new Error(`${url} answered ${response.statusCode}`));
      resolve(lines());
      async function* lines() {
        let rest = '';
        try {
          for await (const chunk of response) {
            const parts = (rest + chunk).split('\n');
            rest = parts.pop()!;
            yield* parts;
          }
        } finally {
          call.destroy();
        }
      }
    });
    call.on('error', reject).end();
  });
}

/** The first events of a watch; then it is closed. */
export async function take(events: AsyncGenerator<any>, count: number): Promise<any[]> {
  const found: any[] = [];
  for await (const event of events) {
    found.push(event);
    if (found.length === count) break;
  }
  return found;
}
