/** The objects that a binding uses as parameters of its policy. */
import type { ParamKind, ParamRef } from '../../../../kinds/groups/extension/admissionregistration/policies/params.ts';
import type { KubeObject } from '../../../../kinds/kind.ts';
import { fromLabelSelector } from '../../../../schema/selector/selector.ts';
import type { Entry } from '../../../objects/cache/entry/entry.ts';
import { prepare } from '../../../objects/cache/entry/prepare.ts';
import { type MaybeAsync, whenReady } from '../../../objects/conversion/convert.ts';
import type { Reader } from '../../../objects/ports.ts';
import { readInTurns } from '../../../objects/reads/read-in-turns.ts';
import type { Resource } from '../../../objects/registry/registry.ts';

/** A policy or binding that cannot be evaluated; the failure policy decides about the request. */
export class Misconfigured extends Error {
  override readonly name = 'Misconfigured';
}

/** The parameters with which a policy is evaluated, one after the other; null: without parameters. */
export type Params = readonly (KubeObject | null)[];

export const WITHOUT_PARAMS: Params = [null];

/** Returns the kind of a policy's parameters; undefined when it has none. Throws Misconfigured. */
export function paramResource(core: Reader, paramKind: ParamKind | undefined): Resource | undefined {
  if (!paramKind) return undefined;
  const { apiVersion = '', kind = '' } = paramKind;
  const resource = core.registry.resourcesOf(apiVersion).find((each) => each.kind.kind === kind);
  if (resource) return resource;
  const [version = '', group = ''] = apiVersion.split('/').reverse();
  throw new Misconfigured(`failed to find resource referenced by paramKind: '${group}/${version}, Kind=${kind}'`);
}

/** Returns the parameters of a binding for requests in a namespace. Throws Misconfigured. */
export function paramsFor(
  core: Reader,
  resource: Resource | undefined,
  { paramRef, namespace }: { readonly paramRef: ParamRef | undefined; readonly namespace: string },
): MaybeAsync<Params> {
  if (!resource || !paramRef) return WITHOUT_PARAMS;
  const entries = entriesOf(core, resource, paramRef, namespace);
  return whenReady(entries, (selected) => {
    if (selected.length === 0 && paramRef.parameterNotFoundAction === 'Deny') {
      throw new Misconfigured('no params found for policy binding with `Deny` parameterNotFoundAction');
    }
    return whenReady(prepare(selected, resource), () => objectsOf(core, selected, resource));
  });
}

/** Decodes the objects over several turns of the event loop: there may be thousands of large ones. */
function objectsOf({ turns }: Reader, entries: readonly Entry[], resource: Resource): MaybeAsync<Params> {
  const objects: KubeObject[] = [];
  const reading = readInTurns(turns, entries, (entry) => void objects.push(entry.view(resource).object));
  return whenReady(reading, () => objects);
}

function entriesOf(core: Reader, { kind }: Resource, ref: ParamRef, requested: string): MaybeAsync<readonly Entry[]> {
  const table = core.cache.table(kind);
  const namespace = kind.scope === 'Namespaced' ? ref.namespace || requested : '';
  if (kind.scope === 'Namespaced' && !namespace) {
    throw new Misconfigured('cannot use namespaced paramRef in policy binding that matches cluster-scoped resources');
  }
  if (kind.scope === 'Cluster' && ref.namespace) {
    throw new Misconfigured('paramRef.namespace must not be provided for a cluster-scoped `paramKind`');
  }
  if (ref.name) {
    const entry = table.get(namespace, ref.name);
    return entry ? [entry] : [];
  }
  const selector = fromLabelSelector(ref.selector);
  const entries = table.entries(namespace);
  if (selector.empty) return entries;
  const selected: Entry[] = [];
  const reading = readInTurns(core.turns, entries, (entry) => {
    if (selector.matches(entry.hub(kind).metadata.labels)) selected.push(entry);
  });
  return whenReady(reading, () => selected);
}
