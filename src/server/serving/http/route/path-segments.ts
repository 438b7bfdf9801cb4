import { badRequest } from '../../../../api/errors.ts';
import { decodeComponent } from './percent-decode.ts';

/** The segments of a path, decoded on access: the rest after a proxy subresource is passed on as sent. */
export class PathSegments {
  readonly #path: string;
  readonly #segments: readonly string[];
  readonly #isEncoded: boolean;

  constructor(path: string) {
    this.#path = path;
    const segments = path.split('/');
    if (segments.length > 2 && segments.at(-1) === '') segments.pop();
    this.#segments = segments;
    this.#isEncoded = path.includes('%');
  }

  /** Number of segments. The first one, before the leading slash, is empty; a trailing slash does not count. */
  get length(): number {
    return this.#segments.length;
  }

  /** Returns a segment. Throws a BadRequest when it cannot be a name; very few names have control characters. */
  at(index: number, mayHaveControls = false): string | undefined {
    const segment = this.#segments[index];
    return segment !== undefined && this.#isEncoded ? decodeSegment(segment, mayHaveControls) : segment;
  }

  /** Returns the path from a segment on, as sent, with the slash before the segment and a trailing one. */
  from(index: number): string {
    return this.#path
      .split('/')
      .slice(index)
      .map((segment) => `/${segment}`)
      .join('');
  }
}

/** Splits a path into decoded segments, of which the first is empty; a trailing slash is ignored. */
export function splitPath(path: string): string[] {
  const segments = new PathSegments(path);
  return Array.from({ length: segments.length }, (_, index) => segments.at(index)!);
}

function decodeSegment(segment: string, mayHaveControls: boolean): string {
  const decoded = decodeComponent(segment);
  for (let i = 0; i < decoded.length; i++) {
    const code = decoded.charCodeAt(i);
    const isControl = code < 0x20 || code === 0x7f;
    // An encoded slash would change the meaning of the path.
    if (code === 0x2f || (isControl && !mayHaveControls)) {
      throw badRequest(`invalid path segment ${JSON.stringify(decoded.slice(0, 100))}`);
    }
  }
  return decoded;
}
