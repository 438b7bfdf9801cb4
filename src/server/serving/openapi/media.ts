/** Content negotiation for schema documents. Representations of objects are negotiated in `../http/respond`. */
import { ApiError } from '../../../api/errors.ts';

export const JSON_TYPE = 'application/json';
export const PROTOBUF_TYPE = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';

/** Aliases of the media types. The first is malformed, and is the one that most clients send. */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ['application/com.github.proto-openapi.spec.v2@v1.0+protobuf', PROTOBUF_TYPE],
  ['application/com.github.googleapis.gnostic.openapiv2+protobuf', PROTOBUF_TYPE],
]);

/** Returns the offered type that the client prefers. Throws NotAcceptable (406) when it accepts none. */
export function chooseType(accept: string | undefined, offered: readonly [string, ...string[]]): string {
  if (!accept) return offered[0];
  const wanted = accept
    .split(',')
    .map(parseClause)
    .filter(({ quality }) => quality > 0)
    .sort((a, b) => b.quality - a.quality);
  for (const { type } of wanted) {
    const found = offered.find((offer) => matches(type, offer));
    if (found) return found;
  }
  throw new ApiError('NotAcceptable', `only the following media types are accepted: ${offered.join(', ')}`);
}

function parseClause(clause: string): { type: string; quality: number } {
  const [type = '', ...parameters] = clause.split(';').map((part) => part.trim().toLowerCase());
  const quality = parameters.find((parameter) => parameter.startsWith('q='));
  return { type: ALIASES.get(type) ?? type, quality: quality ? Number(quality.slice(2)) : 1 };
}

function matches(wanted: string, offer: string): boolean {
  return wanted === '*/*' || wanted === offer || (wanted.endsWith('/*') && offer.startsWith(wanted.slice(0, -1)));
}
