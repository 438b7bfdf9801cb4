/** A real BIND 9 for tests, on a port that was free, with one zone that takes signed updates. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../free-port.ts';

const TSIG_NAME = 'federation.key';
const SECRET = Buffer.from('a secret of thirty-two bytes or so').toString('base64');

interface BindOptions {
  /** `example.com.` */
  readonly zone: string;
  readonly algorithm?: string;
  /** Address to listen on. */
  readonly address?: string;
}

export class TestBind {
  readonly port: number;
  readonly address: string;
  readonly zone: string;
  readonly secret = SECRET;
  readonly algorithm: string;
  readonly #directory: string;
  #process: ChildProcess | undefined;

  private constructor(directory: string, port: number, { zone, algorithm, address }: BindOptions) {
    this.#directory = directory;
    this.port = port;
    this.zone = zone;
    this.algorithm = algorithm ?? 'hmac-sha256';
    this.address = address ?? '127.0.0.1';
  }

  /** Resolves when it answers. */
  static async start(options: BindOptions): Promise<TestBind> {
    const bind = new TestBind(await mkdtemp(join(tmpdir(), 'bind-')), await freePort(), options);
    await bind.#start();
    return bind;
  }

  /** The configuration of the provider `rfc2136`. */
  config(changes: Readonly<Record<string, string>> = {}): string {
    const values = {
      server: `${this.address}:${this.port}`,
      'tsig-key-name': TSIG_NAME,
      'tsig-secret': this.secret,
      'tsig-algorithm': this.algorithm,
      ...changes,
    };
    return ['[Global]', ...Object.entries(values).map(([key, value]) => `${key} = ${value}`), ''].join('\n');
  }

  dig(name: string, type = 'A'): readonly string[] {
    return dig(this, name, type);
  }

  async stop(): Promise<void> {
    const child = this.#process;
    this.#process = undefined;
    if (child && child.exitCode === null && child.signalCode === null) {
      await new Promise<void>((resolve) => {
        child.once('exit', () => resolve());
        child.kill('SIGTERM');
      });
    }
    await rm(this.#directory, { recursive: true, force: true });
  }

  async #start(): Promise<void> {
    const { zone, port, address, algorithm, secret } = this;
    const file = (name: string, lines: readonly string[]) =>
      writeFile(join(this.#directory, name), `${lines.join('\n')}\n`);
    await file('zone', [
      '$TTL 300',
      `@ IN SOA ns.${zone} hostmaster.${zone} 1 3600 600 86400 60`,
      `@ IN NS ns.elsewhere.test.`,
    ]);
    await file('named.conf', [
      `key "${TSIG_NAME}" { algorithm ${algorithm}; secret "${secret}"; };`,
      'controls {};',
      'options {',
      `  directory "${this.#directory}"; pid-file none; session-keyfile none; lock-file none;`,
      `  listen-on port ${port} { ${address}; }; listen-on-v6 { none; }; recursion no; dnssec-validation no;`,
      '};',
      `zone "${zone}" {`,
      '  type primary; file "zone";',
      `  allow-update { key "${TSIG_NAME}"; }; allow-transfer { key "${TSIG_NAME}"; };`,
      '};',
    ]);
    const child = spawn('named', ['-g', '-n', '1', '-c', join(this.#directory, 'named.conf')], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.#process = child;
    const output: string[] = [];
    await new Promise<void>((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', (code) => reject(new Error(`named ended with ${code}: ${output.join('')}`)));
      child.stderr?.on('data', (chunk) => {
        output.push(String(chunk));
        if (output.join('').includes(' running\n')) resolve();
      });
    });
    child.stderr?.removeAllListeners('data').resume();
    child.removeAllListeners('exit');
  }
}

/** Why tests on BIND cannot run here; undefined: they can. */
export function bindMissing(): string | undefined {
  try {
    execFileSync('named', ['-V'], { stdio: 'ignore' });
    return undefined;
  } catch {
    return 'skipped: there is no program "named" on this machine';
  }
}

/** Returns the output of `dig` for a name and type: one line for each record, sorted. */
export function dig(
  { address, port }: { readonly address: string; readonly port: number },
  name: string,
  type = 'A',
): readonly string[] {
  const args = [`@${address}`, '-p', String(port), '+short', '+tries=2', '+time=2', name, type];
  return execFileSync('dig', args, { encoding: 'utf8' }).split('\n').filter(Boolean).sort();
}
