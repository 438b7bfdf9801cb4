/**
 * Makes the page of served kinds from the kinds and from the published documents of Kubernetes. `run.ts` writes it; a
 * test fails when it no longer agrees with the kinds.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { allKinds } from '../../src/kinds/all.ts';
import { splitApiVersion } from '../../src/kinds/kind.ts';
import { Registry, type ServedResource } from '../../src/server/objects/registry/registry.ts';
import { allSubresources } from '../../src/server/operations/subresources/all.ts';
import { BackendRegistry, compareVersions } from '../../src/server/serving/backends/backend-registry.ts';
import { OpenApi } from '../../src/server/serving/openapi/openapi.ts';
import { hasProtobufForm } from '../../src/server/serving/protobuf/shapes.ts';
import { loadReference, type Reference } from '../kinds/published.ts';
import { type FieldCount, type FieldCoverage, fieldCoverage } from './fields.ts';
import { type OperationCoverage, operationCoverage } from './operations.ts';

export const PAGE = join(import.meta.dirname, '..', '..', 'docs', 'api-coverage.md');

interface Row {
  readonly resource: ServedResource;
  readonly fields: FieldCoverage;
}

/** The whole page. `directory` holds the published documents. */
export async function coveragePage(directory: string): Promise<string> {
  const registry = new Registry(allKinds, allSubresources);
  const reference = loadReference(directory);
  const groups = groupsOf(registry).map((group) => ({ group, rows: rowsOf(registry, group, reference) }));
  const document = await new OpenApi(new BackendRegistry(registry)).document('/openapi/v2', undefined);
  const published = JSON.parse(readFileSync(join(directory, 'openapi-1.36.json'), 'utf8'));
  const operations = operationCoverage(JSON.parse(String(document?.body)).paths, published.paths);
  return `${[
    intro(groups.flatMap(({ rows }) => rows)),
    ...groups.map(({ group, rows }) => groupSection(group, rows)),
    operationSection(operations),
    unservedSection(operations),
  ].join('\n\n')}\n`;
}

function groupsOf(registry: Registry): string[] {
  const names = new Set([...registry.apiVersions].map((apiVersion) => splitApiVersion(apiVersion)[0]));
  return [...names].sort();
}

/** Returns rows by kind, and each kind's versions newest first. */
function rowsOf(registry: Registry, group: string, reference: Reference): Row[] {
  const versions = [...registry.apiVersions].filter((apiVersion) => splitApiVersion(apiVersion)[0] === group);
  return versions
    .sort(compareVersions)
    .flatMap((apiVersion) => registry.resourcesOf(apiVersion))
    .sort((a, b) => (a.kind.kind < b.kind.kind ? -1 : a.kind.kind > b.kind.kind ? 1 : 0))
    .map((resource) => ({ resource, fields: fieldCoverage(reference, resource.kind, resource.version) }));
}

function intro(rows: readonly Row[]): string {
  const kinds = new Set(rows.map(({ resource }) => resource.kind)).size;
  const total = (release: 'newer' | 'older') => {
    const counts = rows.flatMap(({ fields }) => (fields.measuredBy ? [] : (fields[release] ?? [])));
    const sum = (what: 'published' | 'served') => counts.reduce((all, count) => all + count[what], 0);
    return `${share({ served: sum('served'), published: sum('published') })} in ${counts.length} kinds and versions`;
  };
  return `# API coverage

Made by \`npm run coverage\` from the kinds (\`src/kinds/\`) and the documents that Kubernetes publishes of its API; a test fails
when this page no longer agrees with them.

${kinds} kinds are served in ${rows.length} versions. Fields are counted at every depth, a shape that contains itself once, and count as
served when ours has them under the same path with the same type (the width of an integer aside):

- of Kubernetes 1.36: ${total('newer')}
- of Kubernetes 1.7, where older versions live: ${total('older')}

A version that neither release publishes is measured by the stored version of its kind, which the table names.

Objects are served and accepted in JSON, YAML and protobuf (\`application/vnd.kubernetes.protobuf\`, what programs in Go ask for by
default), watches in JSON and protobuf, tables in JSON and YAML. Kinds of other groups than Kubernetes' own, custom kinds among them, have
no protobuf form, ${withoutProtobuf(rows)} neither; of all kinds, the metadata alone (PartialObjectMetadata) does.

Kinds that a CustomResourceDefinition defines are served beside these, with status, scale, all patch types, columns and selectable fields.
[Custom kinds](custom-kinds.md) says what a definition may contain: structural schemas, and rules in CEL with the functions, limits and
messages of Kubernetes 1.36. \`LeaseCandidate\` is stored and validated, and no election picks among candidates, as in Kubernetes 1.36 with
its defaults (\`CoordinatedLeaderElection\` is off).`;
}

/** The versions of Kubernetes' groups without a protobuf form. */
function withoutProtobuf(rows: readonly Row[]): string {
  const versions = rows
    .filter(({ resource: { version } }) => !version.group.includes('.') || version.group.endsWith('.k8s.io'))
    .filter(({ resource }) => !hasProtobufForm(resource))
    .map(({ resource: { version } }) => `\`${version.apiVersion}\``);
  return [...new Set(versions)].join(' and ');
}

function groupSection(group: string, rows: readonly Row[]): string {
  const lines = rows.map(({ resource, fields }) => {
    const { kind, version } = resource;
    const cells = [
      kind.kind,
      version.version,
      kind.scope === 'Namespaced' ? 'yes' : 'no',
      resource.verbs.join(' '),
      subresourceCell(resource),
      fields.newer ? `${share(fields.newer)}${fields.measuredBy ? ` (as ${fields.measuredBy})` : ''}` : '',
      fields.older ? share(fields.older) : '',
    ];
    return `| ${cells.join(' | ')} |`;
  });
  const head = ['kind', 'version', 'namespaced', 'verbs', 'subresources', 'fields of 1.36', 'fields of 1.7'];
  const table = [`| ${head.join(' | ')} |`, `|${' --- |'.repeat(head.length)}`, ...lines].join('\n');
  return [`## ${group || 'core'}`, table, ...missingFields(rows)].join('\n\n');
}

function subresourceCell({ subresources }: ServedResource): string {
  return [...subresources.values()].map(({ name, verbs }) => `${name} (${verbs.join(' ')})`).join(', ');
}

function missingFields(rows: readonly Row[]): string[] {
  const lines = rows.flatMap(({ resource, fields }) =>
    (['newer', 'older'] as const).flatMap((release) => {
      const missing = fields[release]?.missing ?? [];
      if (missing.length === 0) return [];
      const { kind, version } = resource;
      const name = `${kind.kind} of ${version.apiVersion}, of Kubernetes ${release === 'newer' ? '1.36' : '1.7'}`;
      return [`- ${name}: ${missing.map((path) => `\`${path}\``).join(', ')}`];
    }),
  );
  return lines.length === 0 ? [] : [`Missing:\n\n${lines.join('\n')}`];
}

function operationSection({ published, served, missing }: OperationCoverage): string {
  const lines = [...missing].sort(byName).map(([where, methods]) => `- ${where}: ${methods.join(', ')}`);
  return `## Operations

Of the operations that Kubernetes 1.36 publishes for these kinds, ${share({ published, served })} are answered.${
    lines.length > 0 ? ` Not yet:\n\n${lines.join('\n')}` : ''
  }`;
}

function unservedSection({ unserved }: OperationCoverage): string {
  const lines = [...unserved].sort(byName).map(([apiVersion, plurals]) => `- ${apiVersion}: ${plurals.join(', ')}`);
  return `## What Kubernetes 1.36 has besides\n\nThese are not served: requests for them are answered with 404.\n\n${lines.join('\n')}`;
}

function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Returns a percentage, which is never rounded up to all. */
function share({ served, published }: Pick<FieldCount, 'served' | 'published'>): string {
  const percent = Math.floor((served / published) * 1000) / 10;
  return `${served} of ${published} (${percent} %)`;
}
