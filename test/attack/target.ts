/** The program under attack: started with four users, and replaced by a new cluster when it crashed. */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import allocator from '../../src/cli/process/allocator.json' with { type: 'json' };
import { newDirectory, type Qd, startQd } from '../e2e/program.ts';

const TOKENS = { admin: 'attack-admin', tenant: 'attack-tenant', nobody: 'attack-nobody', probe: 'attack-probe' };

/** Length of the end of the output, which shows why the program crashed. */
const MAX_OUTPUT_LENGTH = 2_000;

const TOKEN_FILE = [
  `${TOKENS.admin},attack-admin,1,"system:masters"`,
  `${TOKENS.probe},attack-probe,2,"system:masters"`,
  `${TOKENS.tenant},tenant,3`,
  `${TOKENS.nobody},nobody,4`,
].join('\n');

export class Target {
  #qd: Qd;
  /** Output of the program before each crash. */
  readonly crashes: string[] = [];

  private constructor(qd: Qd) {
    this.#qd = qd;
  }

  static async start(): Promise<Target> {
    return new Target(await startCluster());
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

  /** Everything that the program has printed. */
  get output(): string {
    return this.#qd.output();
  }

  ca(): Promise<string> {
    return readFile(join(this.#qd.directory, 'data', 'pki', 'ca.crt'), 'utf8');
  }

  /** Starts a new cluster: the data that crashed the last one may crash it at every start. */
  async replace(): Promise<void> {
    this.crashes.push(this.#qd.output().slice(-MAX_OUTPUT_LENGTH));
    await this.stop();
    this.#qd = await startCluster();
  }

  async stop(): Promise<void> {
    await this.#qd.stop();
    await rm(this.#qd.directory, { recursive: true, force: true });
  }
}

async function startCluster(): Promise<Qd> {
  const directory = await newDirectory();
  const file = join(directory, 'tokens.csv');
  await writeFile(file, TOKEN_FILE, { mode: 0o600 });
  const flags = ['--token-auth-file', file, '--runtime', 'simulated', '--nodes', '3'];
  // As `npm start` and `qd up --detach` start it.
  const qd = await startQd({ directory, flags, env: allocator });
  const create = async (path: string, body: object) => {
    const { code, text } = await qd.request('POST', path, { body });
    if (code !== 200) throw new Error(`POST ${path} returned ${code}: ${text}`);
  };
  await create('/api/v1/namespaces', { metadata: { name: 'tenant' } });
  await create('/apis/rbac.authorization.k8s.io/v1/namespaces/tenant/rolebindings', {
    metadata: { name: 'tenant' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'admin' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'tenant' }],
  });
  return qd;
}
