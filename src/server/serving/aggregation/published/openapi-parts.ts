/** Extracts the published parts of another server's schemas, sanitized because they become part of our own. */
import type { DividedWork, Pace } from '../../../../base/event-loop/in-turns.ts';
import { isTree } from '../../../../base/json/tree.ts';
import type { Json, OpenApiV2Part } from '../../backend.ts';
import { encodeDocument } from '../../openapi/dialects/proto.ts';
import { boundedJsonInTurns } from './bounded-json.ts';

/** Limit for an entry, which takes two turns of the event loop. A schema may include that of a pod template. */
const MAX_ENTRY_VALUES = 50_000;
/** Size of most entries in protobuf. */
const ENTRY_BYTES = 4 * 1024;
const EMPTY_PART: OpenApiV2Part = { paths: {}, definitions: {}, parameters: {} };

function emptyDocument(): Json {
  return { openapi: '3.0.0', info: { title: 'Kubernetes', version: 'unversioned' }, paths: {} };
}

/** Returns an OpenAPI 3 document as received; one without paths when it cannot be published. */
export function* documentOf(body: Buffer | undefined, pace: Pace): DividedWork<Json> {
  const document = body && (yield* boundedJsonInTurns(body, pace));
  return isTree(document) && typeof document.openapi === 'string' ? document : emptyDocument();
}

/** Returns the paths of the group and version, and all definitions that can be published in both forms. */
export function* partOf(body: Buffer | undefined, root: string, pace: Pace): DividedWork<OpenApiV2Part> {
  const document = body && (yield* boundedJsonInTurns(body, pace));
  if (!isTree(document)) return EMPTY_PART;
  const own = Object.fromEntries(
    Object.entries(isTree(document.paths) ? document.paths : {}).filter(
      ([path]) => path === root || path.startsWith(`${root}/`),
    ),
  );
  return {
    paths: yield* publishable('paths', own, pace),
    definitions: yield* publishable('definitions', document.definitions, pace),
    parameters: yield* publishable('parameters', document.parameters, pace),
  };
}

/** Returns the entries that can be encoded in protobuf: one that cannot would make the whole document fail. */
function* publishable(section: keyof OpenApiV2Part, value: unknown, pace: Pace): DividedWork<Json> {
  const entries: [string, unknown][] = [];
  for (const [name, entry] of Object.entries(isTree(value) ? value : {})) {
    if (pace.isSpent()) yield;
    if (!isSmall(entry)) continue;
    const cleaned = section === 'definitions' ? schemaOf(entry) : entry;
    // Both steps take long for a large entry.
    if (pace.isSpent()) yield;
    if (isEncodable({ [section]: { [name]: cleaned } })) entries.push([name, cleaned]);
  }
  return Object.fromEntries(entries);
}

function isSmall(entry: unknown): boolean {
  const waiting = [entry];
  let count = 0;
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    if (typeof value !== 'object' || value === null) continue;
    const members = Object.values(value);
    count += members.length;
    if (count > MAX_ENTRY_VALUES) return false;
    for (const member of members) if (typeof member === 'object' && member !== null) waiting.push(member);
  }
  return true;
}

function isEncodable(part: Json): boolean {
  try {
    encodeDocument(part, ENTRY_BYTES);
    return true;
  } catch {
    return false;
  }
}

/** Returns a schema with the keywords that clients of OpenAPI 2 use. */
function schemaOf(value: unknown): Json {
  const schema: Json = {};
  for (const [key, content] of Object.entries(isTree(value) ? value : {})) {
    switch (key) {
      case '$ref':
      case 'format':
      case 'description':
      case 'type':
        if (typeof content === 'string') schema[key] = content;
        break;
      case 'required':
        if (Array.isArray(content)) schema[key] = content.filter((each) => typeof each === 'string');
        break;
      case 'items':
      case 'additionalProperties':
        if (isTree(content)) schema[key] = schemaOf(content);
        break;
      case 'properties':
        if (isTree(content)) {
          schema[key] = Object.fromEntries(Object.entries(content).map(([name, each]) => [name, schemaOf(each)]));
        }
        break;
      default:
        if (key.startsWith('x-')) schema[key] = content;
    }
  }
  return schema;
}
