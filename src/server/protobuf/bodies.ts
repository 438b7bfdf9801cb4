/**
 * Decodes request bodies in protobuf. Typed Go clients, kubectl's own commands among them, send nothing else since 1.32; all
 * of them accept replies in JSON. Readers are built when the first such body arrives.
 */
import { ProtobufError, ProtoReader } from '../../base/protobuf/reader.ts';
import type { Tree } from '../../base/tree.ts';
import { DecodeError } from '../http/body/decode-error.ts';
import { Definitions } from '../openapi/definitions.ts';
import { definitionName, fixedHome } from '../openapi/names.ts';
import type { Registry } from '../registry.ts';
import { Messages } from './messages.ts';
import { inner, readText } from './scalars.ts';

/** The first bytes of every such body. */
const MAGIC = Buffer.from('k8s\0');

/** The kind that a body is taken for when it does not name one. */
export interface Expected {
  readonly apiVersion: string;
  readonly kind: string;
}

export class ProtobufBodies {
  readonly #registry: Registry;
  readonly #depth: number;
  #generation = -1;
  #definitions: Definitions | undefined;
  #messages: Messages | undefined;

  constructor(registry: Registry, depth: number) {
    this.#registry = registry;
    this.#depth = depth;
  }

  decode(bytes: Buffer, expected: Expected): Tree {
    if (!bytes.subarray(0, MAGIC.length).equals(MAGIC)) {
      throw new DecodeError('provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]');
    }
    try {
      const { apiVersion, kind, raw } = readEnvelope(new ProtoReader(bytes.subarray(MAGIC.length)));
      const said = { apiVersion: apiVersion || expected.apiVersion, kind: kind || expected.kind };
      return { ...said, ...this.#read(said, raw) };
    } catch (error) {
      throw error instanceof ProtobufError ? new DecodeError(`proto: ${error.message}`, error) : error;
    }
  }

  #read({ apiVersion, kind }: Expected, raw: Buffer): Tree {
    const { definitions, messages } = this.#current();
    const definition = definitions.all.get(definitionName(fixedHome(kind) ?? apiVersion, kind));
    const object = definition && messages.read(definition, new ProtoReader(raw));
    if (!object) throw new DecodeError(`no kind "${kind}" is registered in protobuf for version "${apiVersion}"`);
    return object;
  }

  #current(): { definitions: Definitions; messages: Messages } {
    const { generation } = this.#registry;
    if (!this.#definitions || !this.#messages || generation !== this.#generation) {
      this.#generation = generation;
      this.#definitions = new Definitions(this.#registry);
      this.#messages = new Messages(this.#definitions, this.#depth);
    }
    return { definitions: this.#definitions, messages: this.#messages };
  }
}

/** Reads the envelope (runtime.Unknown), which names the kind and holds the bytes of the object. */
function readEnvelope(wire: ProtoReader): Expected & { readonly raw: Buffer } {
  let raw: Buffer = Buffer.alloc(0);
  let apiVersion = '';
  let kind = '';
  for (let field = wire.next(); field; field = wire.next()) {
    if (field === 1) {
      const type = inner(wire);
      for (let part = type.next(); part; part = type.next()) {
        if (part === 1) apiVersion = readText(type);
        else if (part === 2) kind = readText(type);
        else type.skip();
      }
    } else if (field === 2) raw = wire.bytes();
    else wire.skip();
  }
  return { apiVersion, kind, raw };
}
