/** Reads the configuration of an image. */
import { RuntimeError } from '../../runtime/errors.ts';
import { placeOfZeroByte } from '../../runtime/zero-bytes.ts';
import type { ImageConfig } from '../image-config.ts';
import { isDigest } from './digest.ts';
import { isObject, parseDocument } from './documents.ts';

export interface ConfigDocument {
  readonly config: ImageConfig;
  /** Digests of the uncompressed layers, in the order in which they are applied. */
  readonly diffIds: readonly string[];
}

export function parseConfig(what: string, bytes: Uint8Array): ConfigDocument {
  const document = parseDocument(what, bytes);
  const config = isObject(document.config) ? document.config : {};
  const diffIds = isObject(document.rootfs) ? document.rootfs.diff_ids : undefined;
  if (!Array.isArray(diffIds) || !diffIds.every(isDigest)) {
    throw new RuntimeError('Unknown', `${what} does not name the layers of its image`);
  }
  const forPrograms = {
    user: text(config.User),
    env: texts(config.Env),
    entrypoint: texts(config.Entrypoint),
    args: texts(config.Cmd),
    workingDirectory: text(config.WorkingDir),
    stopSignal: text(config.StopSignal),
    volumes: isObject(config.Volumes) ? Object.keys(config.Volumes) : [],
  };
  const place = placeOfZeroByte(forPrograms);
  if (place !== undefined) throw new RuntimeError('CannotRun', `${what} cannot be used: ${place} contains a zero byte`);
  const labels = isObject(config.Labels) ? (config.Labels as Record<string, string>) : {};
  return { config: { ...forPrograms, labels }, diffIds };
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}
