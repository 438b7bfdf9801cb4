/** Everything pure that happens to an object that is written, read and shown, step by step. */
import { clone, deepEqual, deepFreeze } from '../../src/base/json/tree.ts';
import { allKinds } from '../../src/kinds/all.ts';
import { defaultColumns } from '../../src/kinds/columns/column.ts';
import type { HookContext, Kind } from '../../src/kinds/kind.ts';
import { fieldNumbers } from '../../src/kinds/protobuf/all.ts';
import { evaluatorOf } from '../../src/kinds/quota/objects.ts';
import { validateObjectMeta } from '../../src/kinds/shapes/meta/object-meta-rules.ts';
import { decode } from '../../src/schema/decode/decode.ts';
import { unknownFields } from '../../src/schema/decode/unknown-fields.ts';
import { dnsSubdomain, nameRule } from '../../src/schema/names.ts';
import { applyMergePatch } from '../../src/schema/patch/merge-patch.ts';
import { PatchError } from '../../src/schema/patch/patch-error.ts';
import { applyStrategicMergePatch } from '../../src/schema/patch/strategic-merge.ts';
import { validate } from '../../src/schema/validate.ts';
import { encode } from '../../src/server/objects/cache/entry/encoding.ts';
import { Registry } from '../../src/server/objects/registry/registry.ts';
import { allSubresources } from '../../src/server/operations/subresources/all.ts';
import { Definitions } from '../../src/server/serving/openapi/definitions.ts';
import { ProtobufBodies } from '../../src/server/serving/protobuf/bodies.ts';
import { Encoder } from '../kinds/protobuf-encoder.ts';

const NOW = '2026-01-02T03:04:05Z';
const registry = new Registry(allKinds, allSubresources);
const bodies = new ProtobufBodies(registry, 100);
const encoder = new Encoder(new Definitions(registry));

/** Runs a step, which may be timed. */
type Run = <T>(step: string, action: () => T) => T;

interface Steps {
  readonly run: Run;
  /** False for steps to leave out, with what is prepared for them. Those that others rely on are always run. */
  isWanted?(step: string): boolean;
}

const STEPS_FROM_OLD = ['update', 'merge patch', 'strategic merge patch'];
const SUBRESOURCES = ['resize', 'ephemeralcontainers', 'approval'];
const STEPS_FROM_BEFORE = ['status', ...SUBRESOURCES];

/** Returns the errors of validation for the new object. `input` is in the stored version. */
export function writePath(kind: Kind, input: any, { run, isWanted = () => true }: Steps): string[] {
  const { hub } = kind;
  const { apiVersion, schema } = hub;
  const hook: HookContext = { now: NOW, uuid: () => 'u', apiVersion, subresource: undefined };
  const sent = { ...input, kind: kind.kind, apiVersion };
  const runIfWanted = (step: string, action: () => unknown) => {
    if (isWanted(step)) run(step, action);
  };
  const object: any = run('decode', () => decode(schema, sent));
  const whole = clone(object);
  runIfWanted('unknown fields', () => unknownFields(schema, sent));
  if (isWanted('protobuf') && fieldNumbers(apiVersion, kind.kind)) {
    const { bytes } = encoder.body(apiVersion, schema, sent);
    run('protobuf', () => bodies.decode(bytes, { apiVersion, kind: kind.kind }));
  }
  run('onCreate', () => {
    if (kind.initialStatus) object.status = kind.initialStatus(object);
    kind.onCreate?.(object, hook);
  });
  const named = { name: 'name', ...(kind.scope === 'Namespaced' ? { namespace: 'default' } : {}) };
  Object.assign(object.metadata, named, { uid: 'u', creationTimestamp: NOW });
  const errors = run('create', () => validated(kind, object, undefined));
  // Otherwise the object has everything that warnings may rely on.
  const isComplete = !errors.some((each) => each.includes('Required value'));
  runIfWanted('warnings', () => {
    if (isComplete) kind.warnings?.(object, undefined);
    kind.statusWarnings?.(whole);
  });
  runIfWanted('JSON', () => JSON.parse(encode(object).toString()));
  const old: any = STEPS_FROM_OLD.some(isWanted) && deepFreeze(backwards(object));
  runIfWanted('update', () => {
    const next: any = { ...clone(object), status: old.status };
    kind.onUpdate?.(next, old, hook);
    validated(kind, next, old);
    if (isComplete) kind.warnings?.(next, old);
  });
  const before: any = STEPS_FROM_BEFORE.some(isWanted) && deepFreeze(backwards(whole));
  runIfWanted('status', () => {
    const next: any = { ...before, metadata: { ...before.metadata }, status: clone(whole.status) };
    kind.onStatusUpdate?.(next, before, { ...hook, subresource: 'status' });
    validated(kind, next, before, 'status');
  });
  for (const subresource of SUBRESOURCES) {
    if (!Object.hasOwn(kind.subresources ?? {}, subresource)) continue;
    runIfWanted(subresource, () => validated(kind, clone(whole), before, subresource));
  }
  for (const version of kind.versions) {
    if (version === hub) continue;
    runIfWanted(`convert to ${version.apiVersion}`, () => {
      const copy = { ...clone(whole), apiVersion: version.apiVersion };
      const shown: any = decode(version.schema, version.fromHub ? version.fromHub(copy) : copy);
      const back = { ...clone(shown), apiVersion };
      return version.toHub ? version.toHub(back) : back;
    });
  }
  runIfWanted('columns', () => (kind.columns ?? defaultColumns).map(({ cell }) => cell(whole, 0)));
  runIfWanted('rows', () => kind.rows?.completed?.(whole));
  runIfWanted('selectable', () => Object.values(kind.selectable ?? {}).map((read) => read(whole)));
  runIfWanted('quota', () => {
    const evaluator = evaluatorOf(kind);
    evaluator?.usage(whole, Date.parse(NOW));
    evaluator?.missing?.(whole, ['cpu', 'memory', 'requests.cpu', 'limits.memory']);
    for (const scopeName of ['BestEffort', 'CrossNamespacePodAffinity']) {
      evaluator?.isIn(whole, { scopeName, operator: 'Exists' });
    }
  });
  runIfWanted('delete', () => {
    kind.gracePeriod?.(whole, undefined);
    kind.termination?.begin(clone(whole));
  });
  runIfWanted('merge patch', () => applyMergePatch(old, whole));
  runIfWanted('strategic merge patch', () => {
    try {
      applyStrategicMergePatch(schema, whole, old);
    } catch (error) {
      if (!(error instanceof PatchError)) throw error;
    }
  });
  runIfWanted('equal', () => deepEqual(whole, clone(whole)));
  return errors;
}

/** Returns the errors of an object as `field: message`. */
export function validated(kind: Kind, object: any, old: any, subresource?: string): string[] {
  const { apiVersion } = kind.hub;
  const context = { operation: old ? 'update' : 'create', old, subresource, apiVersion } as const;
  const found = [
    validateObjectMeta(object.metadata, {
      operation: context.operation,
      old: old?.metadata,
      nameRule: kind.name ?? nameRule(dnsSubdomain),
      namespaced: kind.scope === 'Namespaced',
    }),
    validate(kind.hub.schema, object, context),
    ...(kind.rules ?? []).map((rule) => rule(object, { ...context, parent: undefined, root: object, oldRoot: old })),
  ];
  return found.flat().map(({ field, message }) => `${field}: ${message}`);
}

/** Returns the tree with its lists in the opposite order: an item is not where its predecessor was. */
function backwards(tree: any): any {
  if (typeof tree !== 'object' || tree === null) return tree;
  if (Array.isArray(tree)) return tree.map(backwards).reverse();
  return Object.fromEntries(Object.entries(tree).map(([key, value]) => [key, backwards(value)]));
}
