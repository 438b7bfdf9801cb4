/** What is published of the schemas of another server. Its documents are cleaned: they become part of our own. */
import { isTree } from '../../base/json/tree.ts';
import type { Json, OpenApiV2Part } from '../backends/backend.ts';
import { encodeDocument } from '../openapi/proto.ts';
import { documentV2 } from '../openapi/v2.ts';
import { boundedJson } from './bounded-json.ts';

const EMPTY_PART: OpenApiV2Part = { paths: {}, definitions: {}, parameters: {} };

function emptyDocument(): Json {
  return { openapi: '3.0.0', info: { title: 'Kubernetes', version: 'unversioned' }, paths: {} };
}

/** An OpenAPI 3 document as it was received; one without paths when it cannot be published. */
export function documentOf(body: Buffer | undefined): Json {
  const document = body && boundedJson(body);
  return isTree(document) && typeof document.openapi === 'string' ? document : emptyDocument();
}

/** The paths of the group and version, and all definitions, as far as they can be published in both forms. */
export function partOf(body: Buffer | undefined, root: string): OpenApiV2Part {
  const document = body && boundedJson(body);
  if (!isTree(document)) return EMPTY_PART;
  const { paths, definitions, parameters } = document;
  const schemas = publishable(definitions, (all) => ({ ...EMPTY_PART, definitions: all }), schemaOf);
  const shared = publishable(
    parameters,
    (all) => ({ ...EMPTY_PART, parameters: all }),
    (each) => each,
  );
  const own = Object.fromEntries(
    Object.entries(isTree(paths) ? paths : {}).filter(([path]) => path === root || path.startsWith(`${root}/`)),
  );
  return {
    paths: publishable(
      own,
      (all) => ({ ...EMPTY_PART, paths: all }),
      (each) => each,
    ),
    definitions: schemas,
    parameters: shared,
  };
}

/** The entries that can be encoded in protobuf: one that cannot would make the whole document fail. */
function publishable(value: unknown, part: (entries: Json) => OpenApiV2Part, clean: (entry: unknown) => unknown): Json {
  const entries = Object.entries(isTree(value) ? value : {}).map(([name, entry]) => [name, clean(entry)] as const);
  const all = Object.fromEntries(entries);
  if (isEncodable(part(all))) return all;
  return Object.fromEntries(entries.filter(([name, entry]) => isEncodable(part({ [name]: entry }))));
}

function isEncodable(part: OpenApiV2Part): boolean {
  try {
    encodeDocument(documentV2([part]));
    return true;
  } catch {
    return false;
  }
}

/** A schema with the keywords that clients of OpenAPI 2 use. */
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
