/**
 * Generates load over TLS with HTTP/1.1 keep-alive: by wrk if it is installed, or else by a closed loop in this
 * process, which costs more of the machine that it measures.
 */
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

export type Traffic =
  | { readonly type: 'read'; readonly path: string; readonly header?: readonly [name: string, value: string] }
  /** `@NAME@` in the template is replaced by ever new names. */
  | { readonly type: 'create'; readonly path: string; readonly template: string; readonly run: string }
  /** Merge patches of `path` followed by a number below `objects`. */
  | { readonly type: 'patch'; readonly path: string; readonly objects: number };

export interface Target {
  /** `https://127.0.0.1:6443`. */
  readonly origin: string;
  readonly token: string;
}

export interface LoadOptions {
  readonly connections: number;
  readonly seconds: number;
  /** The project's folder. */
  readonly root: string;
}

/** Latencies in milliseconds. `failed` counts answers above 399. */
export interface LoadResult {
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  readonly failed: number;
}

export const hasWrk = (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, 'wrk')));

export function generate(target: Target, traffic: Traffic, options: LoadOptions): Promise<LoadResult> {
  return hasWrk ? byWrk(target, traffic, options) : inProcess(target, traffic, options);
}

async function byWrk({ origin, token }: Target, traffic: Traffic, options: LoadOptions): Promise<LoadResult> {
  const { connections, seconds, root } = options;
  const script = join(root, 'bench', 'wrk', `${traffic.type}.lua`);
  // Uses one thread: the other core is the server's.
  const args = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '10s', '-s', script];
  const { stdout } = await promisify(execFile)('wrk', [...args, origin + traffic.path, '--', token, ...extra(traffic)]);
  const result = JSON.parse(/^\{.*\}$/m.exec(stdout)?.[0] ?? 'null');
  if (!result) throw new Error(`wrk said nothing of its run: ${stdout}`);
  if (result.broken > 0) throw new Error(`wrk counts ${result.broken} broken connections`);
  return {
    perSecond: (result.requests - result.failed) / (result.microseconds / 1e6),
    p50: result.p50 / 1e3,
    p99: result.p99 / 1e3,
    failed: result.failed,
  };
}

function extra(traffic: Traffic): string[] {
  switch (traffic.type) {
    case 'read':
      return [...(traffic.header ?? [])];
    case 'create':
      return [traffic.template, traffic.run];
    case 'patch':
      return [traffic.path, String(traffic.objects)];
  }
}

async function inProcess({ origin, token }: Target, traffic: Traffic, options: LoadOptions): Promise<LoadResult> {
  const agent = new Agent({ keepAlive: true, maxSockets: options.connections, rejectUnauthorized: false });
  const next = requests(traffic);
  const latencies: number[] = [];
  let failed = 0;
  const start = performance.now();
  const end = start + options.seconds * 1_000;
  const worker = async () => {
    while (performance.now() < end) {
      const { method, path, type, body, header } = next();
      const began = performance.now();
      const headers = { authorization: `Bearer ${token}`, ...(type ? { 'content-type': type } : {}), ...header };
      const status = await new Promise<number>((resolve, reject) => {
        request(origin + path, { method, agent, headers }, (response) => {
          response.resume().on('end', () => resolve(response.statusCode ?? 0));
        })
          .on('error', reject)
          .end(body);
      });
      if (status > 399) failed++;
      else latencies.push(performance.now() - began);
    }
  };
  await Promise.all(Array.from({ length: options.connections }, worker));
  agent.destroy();
  latencies.sort((a, b) => a - b);
  const at = (share: number) => latencies[Math.floor(latencies.length * share)] ?? 0;
  return { perSecond: latencies.length / ((performance.now() - start) / 1_000), p50: at(0.5), p99: at(0.99), failed };
}

interface Request {
  readonly method: string;
  readonly path: string;
  readonly type?: string;
  readonly body?: string;
  readonly header?: Readonly<Record<string, string>>;
}

function requests(traffic: Traffic): () => Request {
  let count = 0;
  switch (traffic.type) {
    case 'read':
      return () => ({
        method: 'GET',
        path: traffic.path,
        header: Object.fromEntries(traffic.header ? [traffic.header] : []),
      });
    case 'create': {
      const template = readFileSync(traffic.template, 'utf8');
      return () => ({
        method: 'POST',
        path: traffic.path,
        type: 'application/json',
        body: template.replaceAll('@NAME@', `${traffic.run}-${++count}`),
      });
    }
    case 'patch':
      return () => ({
        method: 'PATCH',
        path: `${traffic.path}${++count % traffic.objects}`,
        type: 'application/merge-patch+json',
        body: JSON.stringify({ metadata: { annotations: { 'example.com/touched': String(count) } } }),
      });
  }
}
