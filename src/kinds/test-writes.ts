/**
 * For tests of kinds: what becomes of an object on its way in, without a server. Decoded in the version it came in,
 * converted, handed to the kind's hooks and checked, in the order in which the server does it.
 */
import { clone } from '../base/tree.ts';
import { decode } from '../schema/decode.ts';
import { validate } from '../schema/validate.ts';
import type { HookContext, Kind, Version } from './kind.ts';

export interface Written {
  /** In the stored version's shape. */
  readonly object: any;
  /** `spec.replicas: Invalid value: -1: …`. */
  readonly errors: readonly string[];
}

export interface WriteOptions {
  readonly apiVersion?: string;
  readonly subresource?: string;
}

export function create(kind: Kind, body: object, { apiVersion = kind.hub.apiVersion }: WriteOptions = {}): Written {
  const object = received(kind, body, apiVersion);
  object.metadata.uid ??= 'uid-1';
  object.status = kind.initialStatus ? kind.initialStatus(object) : {};
  kind.onCreate?.(object, hookContext(apiVersion));
  return { object, errors: check(kind, object, undefined, { apiVersion }) };
}

/** The body is the whole new object. */
export function update(kind: Kind, old: any, body: object, options: WriteOptions = {}): Written {
  const { apiVersion = kind.hub.apiVersion, subresource } = options;
  const object = received(kind, body, apiVersion);
  object.metadata.uid = old.metadata.uid;
  if (subresource === 'status') {
    object.spec = old.spec;
    kind.onStatusUpdate?.(object, old);
  } else {
    object.status = old.status;
    kind.onUpdate?.(object, old, hookContext(apiVersion));
  }
  return { object, errors: check(kind, object, old, { apiVersion, ...(subresource ? { subresource } : {}) }) };
}

/** An object of the stored version's shape as another version shows it. */
export function shown(kind: Kind, object: any, apiVersion: string): any {
  const version = versionOf(kind, apiVersion);
  const copy = { ...clone(object), apiVersion };
  return version.fromHub ? version.fromHub(copy) : copy;
}

/** A body of a version in the stored version's shape: decoded and converted, no more. */
export function received(kind: Kind, body: object, apiVersion: string): any {
  const version = versionOf(kind, apiVersion);
  const decoded: any = decode(version.schema, { kind: kind.kind, ...body });
  decoded.apiVersion = kind.hub.apiVersion;
  return version.toHub ? version.toHub(decoded) : decoded;
}

export function versionOf(kind: Kind, apiVersion: string): Version {
  const version = kind.versions.find((each) => each.apiVersion === apiVersion);
  if (!version) throw new Error(`${kind.kind} is not served in ${apiVersion}`);
  return version;
}

function check(kind: Kind, object: any, old: any, { apiVersion, subresource }: WriteOptions): string[] {
  const operation = old === undefined ? 'create' : 'update';
  const context = { operation, old, subresource, apiVersion } as const;
  const whole = { ...context, parent: undefined, root: object, oldRoot: old };
  const found = [
    ...validate(kind.hub.schema, object, context),
    ...(kind.rules ?? []).flatMap((rule) => rule(object, whole)),
  ];
  return found.map(({ field, message }) => `${field}: ${message}`);
}

function hookContext(apiVersion: string): HookContext {
  return { now: '2030-01-01T00:00:00Z', uuid: () => 'uuid', apiVersion, subresource: undefined };
}
