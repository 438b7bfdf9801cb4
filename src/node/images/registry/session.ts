/** Requests for one repository at one host. */
import type { IncomingMessage } from 'node:http';
import type { DialGuard } from '../../../base/sockets/dial/dial-guard.ts';
import { RuntimeError } from '../../runtime/errors.ts';
import type { RegistryCredentials } from '../../runtime/runtime.ts';
import type { Descriptor } from '../content/descriptor.ts';
import { checkDigest, digestOf, isDigest } from '../content/digest.ts';
import { isObject, MAX_DOCUMENT_BYTES } from '../content/documents.ts';
import { MANIFEST_TYPES } from '../content/media-types.ts';
import { answer, parseChallenge } from './authorization.ts';
import type { RegistryHost } from './hosts.ts';
import { type Answered, type ImageDialing, readBody, send } from './http.ts';
import type { PullProgress } from './pull-progress.ts';

export interface SessionOptions {
  readonly host: RegistryHost;
  readonly repository: string;
  readonly credentials: RegistryCredentials | undefined;
  /** Asked with `?ns=`: a mirror has to know whose images are meant. */
  readonly mirrorOf: string | undefined;
  readonly progress: PullProgress;
  readonly guard: DialGuard;
}

const OK = 200;
const PARTIAL_CONTENT = 206;
const UNAUTHORIZED = 401;
const FORBIDDEN = 403;
const NOT_FOUND = 404;
const TOO_MANY_REQUESTS = 429;
const SERVER_ERRORS = 500;
/** Connections break; each that brought something may be continued. */
const MAX_FRUITLESS_ATTEMPTS = 3;
const MAX_ERROR_BYTES = 64 * 1024;

export class RegistrySession {
  readonly #dialing: ImageDialing;
  #authorization: string | undefined;

  constructor(private readonly options: SessionOptions) {
    const { guard, host } = options;
    this.#dialing = {
      guard,
      hostname: new URL(host.url).hostname,
      isTrusted: host.isInsecure || options.mirrorOf !== undefined,
    };
  }

  /** `reference` is a tag or a digest. */
  async manifest(reference: string): Promise<{ readonly digest: string; readonly bytes: Buffer }> {
    const response = await this.#get(`manifests/${reference}`, { Accept: MANIFEST_TYPES.join(', ') });
    const bytes = await this.#read(response, MAX_DOCUMENT_BYTES);
    const digest = digestOf(bytes);
    if (isDigest(reference)) checkDigest(`the manifest of ${this.options.repository}`, digest, reference);
    return { digest, bytes };
  }

  /** The content of a blob, which continues where a connection broke. Its digest is not checked here. */
  async *blob({ digest, size }: Descriptor): AsyncGenerator<Buffer> {
    const { progress } = this.options;
    let position = 0;
    for (let fruitless = 0; ; ) {
      const before = position;
      try {
        const response = await this.#get(`blobs/${digest}`, position === 0 ? {} : { Range: `bytes=${position}-` });
        let skipped = response.statusCode === PARTIAL_CONTENT ? 0 : position;
        for await (const part of response as AsyncIterable<Buffer>) {
          // A server without ranges sends everything again.
          const fresh = part.subarray(Math.min(skipped, part.length));
          skipped -= part.length - fresh.length;
          if (fresh.length === 0) continue;
          position += fresh.length;
          progress.add(fresh.length);
          yield fresh;
        }
        if (position >= size) return;
        throw new RuntimeError('RegistryUnavailable', `blob ${digest} ended after ${position} of ${size} bytes`);
      } catch (error) {
        progress.signal.throwIfAborted();
        if (error instanceof RuntimeError && error.code !== 'RegistryUnavailable') throw error;
        fruitless = position > before ? 0 : fruitless + 1;
        if (fruitless >= MAX_FRUITLESS_ATTEMPTS) throw unavailable(error);
      }
    }
  }

  async #get(path: string, headers: Record<string, string>): Promise<IncomingMessage> {
    const { response, isOwn } = await this.#send(path, headers);
    // Another host that the registry redirects to has no claim to its credentials.
    if (response.statusCode !== UNAUTHORIZED || !isOwn) return this.#checked(path, response);
    const challenge = parseChallenge(response.headers['www-authenticate'] ?? '');
    response.destroy();
    const { repository, credentials, host, progress } = this.options;
    const hasTls = host.url.startsWith('https:') && !host.isInsecure;
    const { isInsecure } = host;
    const { signal } = progress;
    this.#authorization = await answer({
      challenge,
      repository,
      credentials,
      isInsecure,
      hasTls,
      signal,
      dialing: this.#dialing,
    });
    return this.#checked(path, (await this.#send(path, headers)).response);
  }

  #send(path: string, headers: Record<string, string>): Promise<Answered> {
    const { host, repository, mirrorOf, progress } = this.options;
    const query = mirrorOf === undefined ? '' : `?ns=${encodeURIComponent(mirrorOf)}`;
    return send({
      url: `${host.url}/v2/${repository}/${path}${query}`,
      headers: { ...headers, ...(this.#authorization !== undefined && { Authorization: this.#authorization }) },
      isInsecure: host.isInsecure,
      dialing: this.#dialing,
      signal: progress.signal,
    });
  }

  #read(response: IncomingMessage, maxBytes: number): Promise<Buffer> {
    return readBody(response, { maxBytes, signal: this.options.progress.signal });
  }

  async #checked(path: string, response: IncomingMessage): Promise<IncomingMessage> {
    const { statusCode = 0, statusMessage } = response;
    if (statusCode === OK || statusCode === PARTIAL_CONTENT) return response;
    const said = messageOf(await this.#read(response, MAX_ERROR_BYTES).catch(() => Buffer.alloc(0)));
    const { repository, host } = this.options;
    if (statusCode === NOT_FOUND)
      throw new RuntimeError('ImageNotFound', `${host.url}/v2/${repository}/${path}: not found`);
    if (statusCode === UNAUTHORIZED || statusCode === FORBIDDEN) {
      const reason = 'pull access denied, repository does not exist or may require authorization';
      throw new RuntimeError('Unknown', `${reason}: server message: ${said || statusMessage}`);
    }
    const isBusy = statusCode >= SERVER_ERRORS || statusCode === TOO_MANY_REQUESTS;
    throw new RuntimeError(
      isBusy ? 'RegistryUnavailable' : 'Unknown',
      `unexpected status from GET request to ${host.url}/v2/${repository}/${path}: ${statusCode} ${statusMessage}${said && `: ${said}`}`,
    );
  }
}

/** The first error of a registry's answer. */
function messageOf(body: Buffer): string {
  try {
    const document: unknown = JSON.parse(body.toString('utf8'));
    const errors = isObject(document) && Array.isArray(document.errors) ? document.errors : [];
    const [first] = errors.filter(isObject);
    return first ? [first.code, first.message].filter((part) => typeof part === 'string').join(': ') : '';
  } catch {
    return ''; // Not an answer of a registry.
  }
}

function unavailable(error: unknown): RuntimeError {
  if (error instanceof RuntimeError) return error;
  return new RuntimeError('RegistryUnavailable', error instanceof Error ? error.message : String(error), {
    cause: error,
  });
}
