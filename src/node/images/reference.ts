/** Image references, normalized as Docker and containerd do: `busybox` is `docker.io/library/busybox:latest`. */
import { imageNameError } from '../pod/image-name.ts';
import { RuntimeError } from '../runtime/errors.ts';

export interface ImageReference {
  /** `docker.io`, `localhost:5000`… */
  readonly registry: string;
  /** The path in the registry: `library/busybox`. */
  readonly repository: string;
  /** Tag; undefined when there is a digest only. */
  readonly tag: string | undefined;
  readonly digest: string | undefined;
}

const DEFAULT_REGISTRY = 'docker.io';
const OLD_DEFAULT_REGISTRY = 'index.docker.io';
const OFFICIAL = 'library';
const DEFAULT_TAG = 'latest';

/** Throws a RuntimeError of code `InvalidImageName`. */
export function parseReference(text: string): ImageReference {
  const problem = imageNameError(text);
  if (problem !== undefined) throw new RuntimeError('InvalidImageName', problem);
  const [name = '', digest] = text.split('@');
  const slash = name.indexOf('/');
  const first = slash < 0 ? '' : name.slice(0, slash);
  const hasRegistry = /[.:]/.test(first) || first === 'localhost' || first !== first.toLowerCase();
  const [path, tag] = splitTag(hasRegistry ? name.slice(slash + 1) : name);
  const registry = !hasRegistry || first === OLD_DEFAULT_REGISTRY ? DEFAULT_REGISTRY : first;
  const repository = registry === DEFAULT_REGISTRY && !path.includes('/') ? `${OFFICIAL}/${path}` : path;
  return { registry, repository, tag: tag ?? (digest === undefined ? DEFAULT_TAG : undefined), digest };
}

function splitTag(path: string): [string, string | undefined] {
  const colon = path.lastIndexOf(':');
  return colon < 0 ? [path, undefined] : [path.slice(0, colon), path.slice(colon + 1)];
}

/** Registry and repository, without tag or digest. */
export function repositoryName({ registry, repository }: ImageReference): string {
  return `${registry}/${repository}`;
}

/** Returns the whole name. With a digest the tag has no meaning, and is left out. */
export function fullName(reference: ImageReference): string {
  const { tag, digest } = reference;
  return repositoryName(reference) + (digest === undefined ? `:${tag}` : `@${digest}`);
}
