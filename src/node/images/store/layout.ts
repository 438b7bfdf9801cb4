/** The paths of a store. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { digitsOf } from '../content/digest.ts';

export class StoreLayout {
  constructor(readonly directory: string) {}

  readonly blobs = () => join(this.directory, 'blobs', 'sha256');
  readonly names = () => join(this.directory, 'names');
  readonly roots = () => join(this.directory, 'roots');
  readonly uses = () => join(this.directory, 'uses');
  readonly ingest = () => join(this.directory, 'ingest');
  readonly lock = () => join(this.directory, 'lock');

  blob(digest: string): string {
    return join(this.blobs(), digitsOf(digest));
  }

  /** A name may be longer than the name of a file. */
  name(name: string): string {
    return join(this.names(), `${hash(name)}.json`);
  }

  root(imageId: string): string {
    return join(this.roots(), digitsOf(imageId));
  }

  usesOf(imageId: string): string {
    return join(this.uses(), digitsOf(imageId));
  }

  use(imageId: string, directory: string): string {
    return join(this.usesOf(imageId), hash(directory));
  }
}

const hash = (text: string) => createHash('sha256').update(text).digest('hex');
