/** Serves node_modules as a package registry, so that an installation needs no network. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

interface Copy {
  readonly name: string;
  readonly version: string;
  /** Path below the root of the project, such as `node_modules/ws`. */
  readonly path: string;
}

export interface Registry {
  readonly url: string;
  close(): Promise<void>;
}

/** `scratch` is a directory for copies of packages; `host`: where it listens. */
export async function startRegistry(root: string, scratch: string, host = '127.0.0.1'): Promise<Registry> {
  const copies = await installedPackages(root);
  /** Each is packed once: two installations ask for it at the same time. */
  const tarballs = new Map<string, Promise<Buffer>>();
  const tarball = (path: string) => {
    const packed = tarballs.get(path) ?? tarballOf(root, path, scratch);
    tarballs.set(path, packed);
    return packed;
  };
  const server = createServer(async (request, response) => {
    const path = decodeURIComponent(request.url!).slice(1);
    try {
      if (path.endsWith('.tgz')) return response.end(await tarball(path.slice(0, -4)));
      const found = copies.filter(({ name }) => name === path);
      if (found.length === 0) return response.writeHead(404).end('{}');
      response.end(JSON.stringify(await packument(root, found, url)));
    } catch (error) {
      response.writeHead(500).end(String(error));
    }
  });
  server.listen(0, host);
  await once(server, 'listening');
  const url = `http://${host}:${(server.address() as AddressInfo).port}`;
  return {
    url,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Reads the lock file in which npm lists its installed packages. */
async function installedPackages(root: string): Promise<Copy[]> {
  const { packages } = JSON.parse(await readFile(join(root, 'node_modules', '.package-lock.json'), 'utf8'));
  return Object.entries<{ version: string }>(packages).map(([path, { version }]) => {
    return { path, version, name: path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length) };
  });
}

/** Returns a registry's document about a package. */
async function packument(root: string, copies: readonly Copy[], url: string): Promise<object> {
  const versions: Record<string, object> = {};
  for (const { path, version } of copies) {
    const manifest = JSON.parse(await readFile(join(root, path, 'package.json'), 'utf8'));
    versions[version] = { ...manifest, dist: { tarball: `${url}/${encodeURIComponent(path)}.tgz` } };
  }
  const { name, version } = copies[0]!;
  return { name, 'dist-tags': { latest: version }, versions };
}

async function tarballOf(root: string, path: string, scratch: string): Promise<Buffer> {
  const folder = join(scratch, encodeURIComponent(path));
  await mkdir(folder, { recursive: true });
  const source = join(root, path);
  await cp(source, join(folder, 'package'), {
    recursive: true,
    dereference: true,
    filter: (file) => !file.slice(source.length).includes('node_modules'),
  });
  const tar = spawn('tar', ['-czf', '-', '-C', folder, 'package'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const chunks: Buffer[] = [];
  for await (const chunk of tar.stdout) chunks.push(chunk);
  return Buffer.concat(chunks);
}
