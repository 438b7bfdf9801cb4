/** Starts a registry on loopback, and puts images into it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readTar } from '../../src/node/images/tar/read-tar.ts';
import { freePort } from '../support/free-port.ts';

export class TestRegistry {
  readonly #process: ChildProcess;

  private constructor(
    /** `127.0.0.1:PORT`. */
    readonly name: string,
    child: ChildProcess,
  ) {
    this.#process = child;
  }

  static async start(directory: string): Promise<TestRegistry> {
    const name = `127.0.0.1:${await freePort()}`;
    await mkdir(directory, { recursive: true });
    const config = {
      version: '0.1',
      log: { level: 'info' },
      storage: { filesystem: { rootdirectory: join(directory, 'blobs') } },
      http: { addr: name },
    };
    await writeFile(join(directory, 'config.yml'), JSON.stringify(config));
    const child = spawn('docker-registry', ['serve', join(directory, 'config.yml')], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    await new Promise<void>((resolve, reject) => {
      let output = '';
      child.stderr.on('data', (chunk) => {
        output += chunk;
        if (output.includes('listening on')) resolve();
      });
      child.once('exit', () => reject(new Error(`docker-registry ended: ${output}`)));
    });
    return new TestRegistry(name, child);
  }

  /** Puts the image of an archive there, and returns its name. */
  async push(archive: string, repository: string): Promise<string> {
    const blobs = new Map<string, Buffer>();
    for await (const { type, path, content } of readTar(createReadStream(archive))) {
      const parts: Buffer[] = [];
      for await (const part of content) parts.push(part);
      if (type === 'file') blobs.set(path, Buffer.concat(parts));
    }
    const index = JSON.parse(String(blobs.get('index.json'))) as { manifests: [{ digest: string; mediaType: string }] };
    const [{ digest, mediaType }] = index.manifests;
    const url = `http://${this.name}/v2/${repository}`;
    for (const [path, bytes] of blobs) {
      if (!path.startsWith('blobs/')) continue;
      const upload = await expected(fetch(`${url}/blobs/uploads/`, { method: 'POST' }), 202);
      const location = new URL(upload.headers.get('location') ?? '', url);
      location.searchParams.set('digest', path.replace('blobs/', '').replace('/', ':'));
      await expected(fetch(location, { method: 'PUT', body: new Uint8Array(bytes) }), 201);
    }
    const manifest = blobs.get(`blobs/${digest.replace(':', '/')}`) ?? Buffer.alloc(0);
    const headers = { 'content-type': mediaType };
    await expected(fetch(`${url}/manifests/1`, { method: 'PUT', body: new Uint8Array(manifest), headers }), 201);
    return `${this.name}/${repository}:1`;
  }

  async stop(): Promise<void> {
    if (this.#process.exitCode !== null) return;
    this.#process.kill('SIGKILL');
    await once(this.#process, 'exit');
  }
}

async function expected(response: Promise<Response>, status: number): Promise<Response> {
  const found = await response;
  if (found.status !== status) throw new Error(`the registry answered ${found.status}: ${await found.text()}`);
  return found;
}
