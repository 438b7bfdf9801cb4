import { ApiError } from '../../../api/errors.ts';
import { clone } from '../../../base/json/tree.ts';
import type { AsyncConversion, Kind, KubeObject, Version } from '../../../kinds/kind.ts';
import type { Resource } from '../registry/registry.ts';

/** A value, or a promise of it if the kind is converted asynchronously. */
export type MaybeAsync<T> = T | Promise<T>;

/** Continues with a value when it is ready: synchronously, unless it is a promise. */
export function whenReady<T, R>(value: MaybeAsync<T>, next: (value: T) => MaybeAsync<R>): MaybeAsync<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/** Converts a decoded object of the resource's version to the stored version. Takes ownership of the object. */
export function toHub({ kind, version }: Resource, object: KubeObject): MaybeAsync<KubeObject> {
  const { conversion, hub } = kind;
  if (conversion && version !== hub) return convertOne(conversion, object, hub);
  object.apiVersion = hub.apiVersion;
  return version.toHub ? version.toHub(object) : object;
}

/** Converts a copy of an object in the stored version to the version of the resource. */
export function fromHub({ kind, version }: Resource, object: KubeObject): MaybeAsync<KubeObject> {
  const copy = clone(object);
  const { conversion, hub } = kind;
  if (conversion && version !== hub) return convertOne(conversion, copy, version);
  copy.apiVersion = version.apiVersion;
  return version.fromHub ? version.fromHub(copy) : copy;
}

async function convertOne(conversion: AsyncConversion, object: KubeObject, target: Version): Promise<KubeObject> {
  const [converted] = await convertAll(conversion, [object], target);
  return converted!;
}

/** Converts objects of one version and checks that the same number came back. */
export async function convertAll(
  conversion: NonNullable<Kind['conversion']>,
  objects: readonly KubeObject[],
  target: Version,
): Promise<readonly KubeObject[]> {
  const converted = await conversion.convert(objects, target);
  if (converted.length !== objects.length) {
    const counts = `expected ${objects.length} objects, got ${converted.length}`;
    throw new ApiError('InternalError', `Internal error occurred: conversion to ${target.apiVersion}: ${counts}`);
  }
  for (const object of converted) object.apiVersion = target.apiVersion;
  return converted;
}
