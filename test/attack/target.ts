/** The program under attack: started with three users, and started again on the same directory when it crashed. */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { newDirectory, type Qd, startQd } from '../e2e/program.ts';

const TOKENS = { admin: 'attack-admin', tenant: 'attack-tenant', nobody: 'attack-nobody', probe: 'attack-probe' };

const TOKEN_FILE = [
  `${TOKENS.admin},attack-admin,1,"system:masters"`,
  `${TOKENS.probe},attack-probe,2,"system:masters"`,
  `${TOKENS.tenant},tenant,3`,
  `${TOKENS.nobody},nobody,4`,
].join('\n');

export class Target {
  readonly #directory: string;
  readonly #flags: readonly string[];
  #qd: Qd;
  /** What the program printed before each crash. */
  readonly crashes: string[] = [];

  private constructor(directory: string, flags: readonly string[], qd: Qd) {
    this.#directory = directory;
    this.#flags = flags;
    this.#qd = qd;
  }

  static async start(): Promise<Target> {
    const directory = await newDirectory();
    const file = join(directory, 'tokens.csv');
    await writeFile(file, TOKEN_FILE, { mode: 0o600 });
    const flags = ['--token-auth-file', file, '--runtime', 'simulated', '--nodes', '3'];
    const target = new Target(directory, flags, await startQd({ directory, flags }));
    await target.#prepare();
    return target;
  }

  get origin(): string {
    return this.#qd.origin;
  }

  get port(): number {
    return Number(new URL(this.origin).port);
  }

  get pid(): number {
    return this.#qd.child.pid ?? 0;
  }

  get tokens(): typeof TOKENS {
    return TOKENS;
  }

  get isRunning(): boolean {
    return this.#qd.child.exitCode === null && this.#qd.child.signalCode === null;
  }

  ca(): Promise<string> {
    return readFile(join(this.#directory, 'data', 'pki', 'ca.crt'), 'utf8');
  }

  /** Starts the program again on what the crashed one left. */
  async restart(): Promise<void> {
    this.crashes.push(this.#qd.output().slice(-2000));
    this.#qd = await startQd({ directory: this.#directory, flags: this.#flags });
  }

  async stop(): Promise<void> {
    await this.#qd.stop();
    await rm(this.#directory, { recursive: true, force: true });
  }

  async #prepare(): Promise<void> {
    const create = async (path: string, body: object) => {
      const { code, text } = await this.#qd.request('POST', path, { body });
      if (code !== 200) throw new Error(`POST ${path} returned ${code}: ${text}`);
    };
    await create('/api/v1/namespaces', { metadata: { name: 'tenant' } });
    await create('/apis/rbac.authorization.k8s.io/v1/namespaces/tenant/rolebindings', {
      metadata: { name: 'tenant' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'admin' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'tenant' }],
    });
  }
}
