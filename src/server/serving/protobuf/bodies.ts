/**
 * Decodes request bodies in protobuf. Typed Go clients, including kubectl's own commands, send nothing else since 1.32.
 * Readers are built when the first such body arrives.
 */

import type { Tree } from '../../../base/json/tree.ts';
import { ProtobufError, ProtoReader } from '../../../protocols/protobuf/reader.ts';
import type { Registry } from '../../objects/registry/registry.ts';
import { DecodeError } from '../codec/decode-error.ts';
import type { Definitions } from '../openapi/definitions.ts';
import { MAGIC } from './envelope.ts';
import { Messages } from './messages.ts';
import { inner, readText } from './scalars.ts';
import { ProtobufShapes } from './shapes.ts';

/** The kind of a body that does not name one. */
export interface Expected {
  readonly apiVersion: string;
  readonly kind: string;
}

export class ProtobufBodies {
  readonly #shapes: ProtobufShapes;
  #definitions: Definitions | undefined;
  #messages: Messages | undefined;

  constructor(
    registry: Registry,
    private readonly depth: number,
  ) {
    this.#shapes = new ProtobufShapes(registry);
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
    const definition = this.#shapes.find(apiVersion, kind);
    if (!definition) throw new DecodeError(`no kind "${kind}" is registered in protobuf for version "${apiVersion}"`);
    return this.#current().read(definition, new ProtoReader(raw));
  }

  #current(): Messages {
    const { definitions } = this.#shapes;
    if (!this.#messages || definitions !== this.#definitions) {
      this.#definitions = definitions;
      this.#messages = new Messages(definitions, this.depth);
    }
    return this.#messages;
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
