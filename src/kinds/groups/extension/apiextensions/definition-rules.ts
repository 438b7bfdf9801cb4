/** The rules of a custom resource definition, in the words of Kubernetes. */

import { addAll } from '../../../../base/collections/add-all.ts';
import type { DividedWork } from '../../../../base/event-loop/in-turns.ts';
import { deepEqual } from '../../../../base/json/tree.ts';
import type { JsonSchema } from '../../../../json-schema/json-schema.ts';
import { patternLimitErrors } from '../../../../json-schema/pattern-limits.ts';
import { schemaErrors } from '../../../../json-schema/schema-rules.ts';
import {
  duplicate,
  type FieldError,
  forbidden,
  invalid,
  notSupported,
  required,
  tooMany,
  under,
} from '../../../../schema/field-error.ts';
import { dns1035Label, dnsSubdomain } from '../../../../schema/names.ts';
import { ruleErrors } from '../../../custom/rules/rule-errors.ts';
import { ruleLimitErrors } from '../../../custom/rules/rule-limits.ts';
import type { DividedRuleContext } from '../../../kind.ts';
import { webhookClientErrors } from '../admissionregistration/webhook-client.ts';
import { hasCondition } from './conditions.ts';
import type { CustomResourceDefinition, CustomResourceVersion } from './definition-fields.ts';

type Definition = CustomResourceDefinition;
type Names = Partial<Definition['spec']['names']>;
type Pace = DividedRuleContext['pace'];

/** Everything that is wrong with a definition. Yields when the pace is spent: schemas may have thousands of rules. */
export function* definitionErrors(
  definition: Definition,
  { old, subresource, pace }: DividedRuleContext,
): DividedWork<FieldError[]> {
  const before = old as Definition | undefined;
  const isStatus = subresource === 'status';
  const found = isStatus ? [] : yield* specErrors(definition, before, pace);
  addAll(found, nameErrors(definition.status.acceptedNames ?? {}, 'status.acceptedNames'));
  if (!isStatus) addAll(found, [...storedVersionErrors(definition), ...approvalErrors(definition, before)]);
  return found;
}

function* specErrors(definition: Definition, old: Definition | undefined, pace: Pace): DividedWork<FieldError[]> {
  const { spec, metadata } = definition;
  const expected = `${spec.names.plural}.${spec.group}`;
  const found: FieldError[] = [];
  if (!old && metadata.name !== expected) {
    found.push(invalid('metadata.name', metadata.name, 'must be spec.names.plural+"."+spec.group'));
  }
  addAll(found, [...groupErrors(spec.group), ...scopeErrors(spec.scope)]);
  if (spec.preserveUnknownFields) {
    const detail =
      'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead';
    found.push(invalid('spec.preserveUnknownFields', true, detail));
  }
  addAll(found, yield* versionErrors(definition, old, pace));
  for (const field of ['plural', 'singular', 'kind', 'listKind'] as const) {
    if (!spec.names[field]) found.push(required(`spec.names.${field}`));
  }
  addAll(found, [...nameErrors(spec.names, 'spec.names'), ...conversionErrors(spec.conversion)]);
  if (old) addAll(found, immutableErrors(spec, old));
  return found;
}

function groupErrors(group: string): FieldError[] {
  if (!group) return [required('spec.group')];
  const problems = dnsSubdomain(group);
  if (problems.length > 0) return [invalid('spec.group', group, problems.join(','))];
  return group.includes('.') ? [] : [invalid('spec.group', group, 'should be a domain with at least one dot')];
}

function scopeErrors(scope: string): FieldError[] {
  const scopes = ['Cluster', 'Namespaced'];
  if (!scope) return [required('spec.scope')];
  return scopes.includes(scope) ? [] : [notSupported('spec.scope', scope, scopes)];
}

function* versionErrors({ spec }: Definition, old: Definition | undefined, pace: Pace): DividedWork<FieldError[]> {
  const { versions } = spec;
  const before = new Map(old?.spec.versions.map((version) => [version.name, version]));
  const schemas = versions.flatMap(({ schema }) => (schema?.openAPIV3Schema as JsonSchema | undefined) ?? []);
  const found = ruleLimitErrors(schemas, 'spec.versions');
  if (pace.isSpent()) yield;
  addAll(found, patternLimitErrors(schemas, 'spec.versions'));
  if (found.length > 0) return found;
  for (const [i, version] of versions.entries()) {
    addAll(found, yield* oneVersionErrors(version, `spec.versions[${i}]`, before.get(version.name), pace));
  }
  if (new Set(versions.map(({ name }) => name)).size < versions.length) {
    found.push(invalid('spec.versions', versions, 'must contain unique version names'));
  }
  if (versions.filter(({ storage }) => storage).length !== 1) {
    found.push(invalid('spec.versions', versions, 'must have exactly one version marked as storage version'));
  }
  return found;
}

function* oneVersionErrors(
  version: CustomResourceVersion,
  path: string,
  before: CustomResourceVersion | undefined,
  pace: Pace,
): DividedWork<FieldError[]> {
  const { name, schema, subresources, additionalPrinterColumns = [] } = version;
  const found: FieldError[] = [];
  const problems = dns1035Label(name);
  if (problems.length > 0) found.push(invalid(`${path}.name`, name, problems.join(',')));
  addAll(found, deprecationErrors(version, path));
  const source = schema?.openAPIV3Schema as JsonSchema | undefined;
  if (!source) found.push(required(`${path}.schema.openAPIV3Schema`));
  else if (
    !before ||
    !deepEqual(before.schema, schema) ||
    Boolean(before.subresources?.status) !== Boolean(subresources?.status)
  ) {
    const at = `${path}.schema.openAPIV3Schema`;
    const wrong = yield* schemaErrors(source, { path: at, hasStatus: subresources?.status !== undefined, pace });
    addAll(found, wrong.length > 0 ? wrong : yield* ruleErrors(source, at, pace));
  }
  addAll(found, scaleErrors(subresources?.scale, `${path}.subresources.scale`));
  additionalPrinterColumns.forEach((column, i) => {
    addAll(found, columnErrors(column, `${path}.additionalPrinterColumns[${i}]`));
  });
  addAll(found, selectableErrors(version, source, `${path}.selectableFields`));
  return found;
}

const MAX_WARNING_CHARACTERS = 256;

function deprecationErrors(
  { deprecated, deprecationWarning: warning }: CustomResourceVersion,
  path: string,
): FieldError[] {
  if (warning === undefined) return [];
  const wrong = (detail: string) => [invalid(`${path}.deprecationWarning`, warning, detail)];
  if (!deprecated) return wrong('can only be set for deprecated versions');
  const found: FieldError[] = [];
  if (Buffer.byteLength(warning) > MAX_WARNING_CHARACTERS) addAll(found, wrong('must be <= 256 characters long'));
  if (warning === '') addAll(found, wrong('must not be an empty string'));
  const at = warning.search(/[\p{C}\p{Zl}\p{Zp}]/u);
  if (at >= 0) {
    const words = 'must only contain printable UTF-8 characters; non-printable character found at index';
    addAll(found, wrong(`${words} ${Buffer.byteLength(warning.slice(0, at))}`));
  }
  return found;
}

function pathErrors(path: string, field: string): FieldError[] {
  return path.startsWith('.') ? [] : [invalid(field, path, 'must be a simple json path starting with .')];
}

type Scale = NonNullable<NonNullable<CustomResourceVersion['subresources']>['scale']>;

function scaleErrors(scale: Scale | undefined, path: string): FieldError[] {
  if (!scale) return [];
  const check = (field: keyof Scale, roots: readonly string[], words: string): FieldError[] => {
    const value = scale[field];
    const at = `${path}.${field}`;
    if (!value) return field === 'labelSelectorPath' ? [] : [required(at)];
    const wrong = pathErrors(value, at);
    if (wrong.length > 0 || roots.some((root) => value.startsWith(root))) return wrong;
    return [invalid(at, value, `should be a json path under ${words}`)];
  };
  return [
    ...check('specReplicasPath', ['.spec.'], '.spec'),
    ...check('statusReplicasPath', ['.status.'], '.status'),
    ...check('labelSelectorPath', ['.spec.', '.status.'], 'either .spec or .status'),
  ];
}

const COLUMN_TYPES = ['boolean', 'date', 'integer', 'number', 'string'];
const COLUMN_FORMATS = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password'];

type Column = NonNullable<CustomResourceVersion['additionalPrinterColumns']>[number];

function columnErrors({ name, type, format, jsonPath }: Column, path: string): FieldError[] {
  const found: FieldError[] = [];
  const oneOf = (words: readonly string[]) => `must be one of ${words.join(',')}`;
  if (!name) found.push(required(`${path}.name`));
  if (!type) found.push(required(`${path}.type`, oneOf(COLUMN_TYPES)));
  else if (!COLUMN_TYPES.includes(type)) found.push(invalid(`${path}.type`, type, oneOf(COLUMN_TYPES)));
  if (format && !COLUMN_FORMATS.includes(format)) found.push(invalid(`${path}.format`, format, oneOf(COLUMN_FORMATS)));
  if (!jsonPath) found.push(required(`${path}.JSONPath`));
  else addAll(found, pathErrors(jsonPath, `${path}.JSONPath`));
  return found;
}

const MAX_SELECTABLE_FIELDS = 8;

function selectableErrors(
  { selectableFields = [] }: CustomResourceVersion,
  schema: JsonSchema | undefined,
  path: string,
) {
  const found: FieldError[] = [];
  const seen = new Set<string>();
  for (const [i, { jsonPath }] of selectableFields.entries()) {
    const at = `${path}[${i}].jsonPath`;
    if (!jsonPath) {
      found.push(required(at));
      continue;
    }
    const names = jsonPath.split('.').slice(1);
    if (!/^(\.[A-Za-z0-9_-]+)+$/.test(jsonPath)) {
      found.push(invalid(at, jsonPath, 'is an invalid path: does not refer to a valid field'));
      continue;
    }
    let inner: JsonSchema | undefined = schema;
    for (const name of names)
      inner = inner?.properties && Object.hasOwn(inner.properties, name) ? inner.properties[name] : undefined;
    if (names[0] === 'metadata') found.push(invalid(at, jsonPath, 'must not point to fields in metadata'));
    else if (!inner) found.push(invalid(at, jsonPath, 'is an invalid path: does not refer to a valid field'));
    else if (!['string', 'boolean', 'integer'].includes(inner.type ?? '')) {
      const detail =
        'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.';
      found.push(invalid(at, jsonPath, detail));
    }
    if (seen.has(jsonPath)) found.push(duplicate(at, jsonPath));
    seen.add(jsonPath);
  }
  if (seen.size > MAX_SELECTABLE_FIELDS) found.push(tooMany(path, seen.size, MAX_SELECTABLE_FIELDS));
  return found;
}

function nameErrors(names: Names, path: string): FieldError[] {
  const found: FieldError[] = [];
  const check = (field: string, text: string, value = text, prefix = '') => {
    const problems = text ? dns1035Label(text) : [];
    if (problems.length > 0) found.push(invalid(`${path}.${field}`, value, prefix + problems.join(',')));
  };
  const { plural = '', singular = '', kind = '', listKind = '', shortNames = [], categories = [] } = names;
  const mixed = 'may have mixed case, but should otherwise match: ';
  check('plural', plural);
  check('singular', singular);
  check('kind', kind.toLowerCase(), kind, mixed);
  check('listKind', listKind.toLowerCase(), listKind, mixed);
  shortNames.forEach((each, i) => void check(`shortNames[${i}]`, each));
  if (kind && kind === listKind) {
    found.push(invalid(`${path}.listKind`, listKind, 'kind and listKind may not be the same'));
  }
  categories.forEach((each, i) => void check(`categories[${i}]`, each));
  return found;
}

const STRATEGIES = ['None', 'Webhook'];
const REVIEW_VERSIONS = ['v1', 'v1beta1'];

function conversionErrors(conversion: Definition['spec']['conversion']): FieldError[] {
  const { strategy, webhook } = conversion;
  const path = 'spec.conversion';
  if (!strategy) return [required(`${path}.strategy`)];
  if (!STRATEGIES.includes(strategy)) return [notSupported(`${path}.strategy`, strategy, STRATEGIES)];
  if (strategy === 'None') {
    const detail = 'should not be set when strategy is not set to Webhook';
    return webhook ? [forbidden(`${path}.webhook`, detail)] : [];
  }
  const client = webhook?.clientConfig;
  const at = `${path}.webhookClientConfig`;
  const found = client
    ? under(at, webhookClientErrors(client))
    : [required(at, 'required when strategy is set to Webhook')];
  return [...found, ...reviewErrors(webhook?.conversionReviewVersions ?? [], `${path}.conversionReviewVersions`)];
}

function reviewErrors(versions: readonly string[], path: string): FieldError[] {
  if (versions.length === 0) return [required(path)];
  const found: FieldError[] = [];
  const seen = new Set<string>();
  versions.forEach((version, i) => {
    if (seen.has(version)) found.push(invalid(`${path}[${i}]`, version, 'duplicate version'));
    else for (const problem of dns1035Label(version)) found.push(invalid(`${path}[${i}]`, version, problem));
    seen.add(version);
  });
  if (!versions.some((version) => REVIEW_VERSIONS.includes(version))) {
    found.push(invalid(path, versions, `must include at least one of ${REVIEW_VERSIONS.join(', ')}`));
  }
  return found;
}

function immutableErrors(spec: Definition['spec'], old: Definition): FieldError[] {
  const found: FieldError[] = [];
  const check = (field: string, value: string, before: string) => {
    if (value !== before) found.push(invalid(`spec.${field}`, value, 'field is immutable'));
  };
  if (hasCondition(old, 'Established')) {
    check('scope', spec.scope, old.spec.scope);
    check('names.kind', spec.names.kind, old.spec.names.kind);
  }
  check('group', spec.group, old.spec.group);
  check('names.plural', spec.names.plural, old.spec.names.plural);
  return found;
}

function storedVersionErrors({ spec, status }: Definition): FieldError[] {
  const path = 'status.storedVersions';
  const { storedVersions = [] } = status;
  if (storedVersions.length === 0) return [invalid(path, null, 'must have at least one stored version')];
  const found: FieldError[] = [];
  const stored = new Set(storedVersions);
  const names = new Set(spec.versions.map(({ name }) => name));
  for (const { name, storage } of spec.versions) {
    if (storage && !stored.has(name)) {
      found.push(invalid(path, storedVersions, `must have the storage version ${name}`));
    }
  }
  storedVersions.forEach((name, i) => {
    if (names.has(name)) return;
    const detail = `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`;
    found.push(invalid(`${path}[${i}]`, name, detail));
  });
  return found;
}

const APPROVAL = 'api-approved.kubernetes.io';
const SEE = 'see https://github.com/kubernetes/enhancements/pull/1111';

/** Checks that a definition in a protected group of the Kubernetes project names the place where it was agreed on. */
function approvalErrors({ spec, metadata }: Definition, old: Definition | undefined): FieldError[] {
  const { group } = spec;
  if (!/(^|\.)(k8s|kubernetes)\.io$/.test(group)) return [];
  const value = metadata.annotations?.[APPROVAL] ?? '';
  if (old && stateOf(old.metadata.annotations?.[APPROVAL] ?? '') === stateOf(value)) return [];
  const path = `metadata.annotations[${APPROVAL}]`;
  const demand = `protected groups must have approval annotation "${APPROVAL}"`;
  switch (stateOf(value)) {
    case 'missing':
      return [required(path, `${demand}, ${SEE}`)];
    case 'invalid':
      return [invalid(path, value, `${demand} with either a URL or a reason starting with "unapproved", ${SEE}`)];
    default:
      return [];
  }
}

function stateOf(annotation: string): 'missing' | 'approved' | 'bypassed' | 'invalid' {
  if (!annotation) return 'missing';
  if (annotation.startsWith('unapproved')) return 'bypassed';
  return URL.canParse(annotation) && new URL(annotation).host ? 'approved' : 'invalid';
}
