import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const SCRIPT = fileURLToPath(new URL('s3-server.py', import.meta.url));
const PYTHON = '/usr/bin/python3';

/** Environment of a user of the server who may do everything. */
export const S3_KEYS = { AWS_ACCESS_KEY_ID: 'test:tester', AWS_SECRET_ACCESS_KEY: 'testing' };
/** Environment of a user without rights. */
export const S3_KEYS_WITHOUT_RIGHTS = { AWS_ACCESS_KEY_ID: 'other:user', AWS_SECRET_ACCESS_KEY: 'testing' };
/** Domain of the names of buckets: BUCKET.s3.test. */
export const S3_DOMAIN = 's3.test';

/** Reason for which there is no server; undefined when it can be started. */
export const missingS3: string | undefined =
  spawnSync(PYTHON, ['-c', 'import swift.common.middleware.s3api']).status === 0
    ? undefined
    : 'the Debian package python3-swift is not installed';

/** OpenStack Swift with its S3 API, on loopback, with files in a directory that goes with it. */
export class TestS3 {
  private constructor(
    readonly endpoint: string,
    readonly port: number,
    private readonly child: ChildProcess,
    private readonly directory: string,
  ) {}

  static async start(certificate?: { readonly cert: string; readonly key: string }): Promise<TestS3> {
    const directory = await mkdtemp(join(tmpdir(), 's3-'));
    const files: string[] = [];
    if (certificate) {
      files.push(join(directory, 'cert.pem'), join(directory, 'key.pem'));
      await writeFile(files[0]!, certificate.cert);
      await writeFile(files[1]!, certificate.key, { mode: 0o600 });
    }
    const child = spawn(PYTHON, ['-B', SCRIPT, directory, ...files], { stdio: ['pipe', 'pipe', 'pipe'] });
    let errors = '';
    child.stderr.on('data', (chunk) => {
      errors += chunk;
    });
    const port = await new Promise<number>((resolve, reject) => {
      child.stdout.once('data', (chunk) => resolve(Number(chunk)));
      child.once('exit', () => reject(new Error(`the S3 server ended: ${errors}`)));
    });
    return new TestS3(`${certificate ? 'https' : 'http'}://127.0.0.1:${port}`, port, child, directory);
  }

  async stop(): Promise<void> {
    const end = once(this.child, 'exit');
    this.child.stdin!.end();
    await end;
    await rm(this.directory, { recursive: true, force: true });
  }
}
