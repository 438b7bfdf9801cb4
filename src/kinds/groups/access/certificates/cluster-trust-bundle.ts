import { X509Certificate } from 'node:crypto';
import { getOrInsert } from '../../../../base/collections/get-or-insert.ts';
import { type PemBlock, pemBlocks } from '../../../../protocols/x509/pem.ts';
import { s } from '../../../../schema/builders.ts';
import { type FieldError, invalid, tooLong, under } from '../../../../schema/field-error.ts';
import { dnsSubdomain } from '../../../../schema/names.ts';
import type { ObjectType, RuleContext } from '../../../../schema/schema.ts';
import { age, NONE, name } from '../../../columns/column.ts';
import { defineKind, type KubeObject } from '../../../kind.ts';
import { signerName } from '../../../shapes/meta/signer-name.ts';

const MAX_BUNDLE_BYTES = 1024 * 1024;
const MAX_PROBLEMS = 100;
const OMITTED = '<value omitted>';

const fields = {
  spec: s.object(
    'ClusterTrustBundleSpec',
    'The trust anchors, and the signer that they belong to.',
    {
      signerName: s.string(
        'Signer that the bundle belongs to, such as example.com/signer. The name of the object then starts with that of the signer, ' +
          'with colons instead of slashes (example.com:signer:), and writing it takes the right `attest` for the signer. Cannot be changed.',
        { omitZero: true, immutable: true, rules: [signerName] },
      ),
      trustBundle: s.string(
        'Certificates of authorities in PEM, one block after the other, without block headers and none of them twice. At least ' +
          'one; at most 1 MiB.',
        { zero: true },
      ),
    },
    { zero: true },
  ),
};

export type ClusterTrustBundle = KubeObject & ObjectType<typeof fields>;

/** Trust anchors that pods can mount. */
export const ClusterTrustBundle = defineKind({
  kind: 'ClusterTrustBundle',
  scope: 'Cluster',
  description:
    'Certificates of authorities, for the whole cluster. Pods mount them with a projected volume, by the name of a bundle or by signer and labels.',
  versions: { 'certificates.k8s.io/v1beta1': {} },
  fields,
  // Colons separate the parts of a signer; the rule below knows the signer.
  name: (text) => text.split(':').flatMap((part) => dnsSubdomain(part)),
  selectable: { 'spec.signerName': ({ spec }: ClusterTrustBundle) => spec.signerName ?? '' },
  rules: [nameFitsSigner, anchorsAreValid],
  columns: ({ text }) => [
    name,
    text('SignerName', 'Signer that the bundle belongs to.', ({ spec }) => spec?.signerName ?? NONE),
    age,
  ],
});

function nameFitsSigner({ metadata, spec }: ClusterTrustBundle): FieldError[] {
  const { name: own = '' } = metadata;
  const { signerName: signer } = spec;
  if (signer === undefined) {
    if (!own.includes(':')) return [];
    return [invalid('metadata.name', own, 'ClusterTrustBundle without signer name must not have ":" in its name')];
  }
  const prefix = `${signer.replaceAll('/', ':')}:`;
  if (own.startsWith(prefix)) return [];
  const detail = `ClusterTrustBundle for signerName ${signer} must be named with prefix ${prefix}`;
  return [invalid('metadata.name', own, detail)];
}

/** A bundle that stays as it was is not parsed again. */
function anchorsAreValid(
  { spec }: ClusterTrustBundle,
  { oldRoot }: RuleContext<ClusterTrustBundle, ClusterTrustBundle>,
) {
  if (spec.trustBundle === oldRoot?.spec.trustBundle) return [];
  return under('spec.trustBundle', trustAnchorProblems(spec.trustBundle));
}

export function trustAnchorProblems(bundle: string): readonly FieldError[] {
  if (Buffer.byteLength(bundle) > MAX_BUNDLE_BYTES) return [tooLong('', MAX_BUNDLE_BYTES)];
  const problems: string[] = [];
  const anchors = new Map<string, number[]>();
  let index = 0;
  for (const block of pemBlocks(bundle)) {
    const problem = blockProblem(block);
    if (problem) problems.push(`entry ${index} ${problem}`);
    // Each block that is no certificate costs an exception, and a bundle has room for very many.
    if (problems.length >= MAX_PROBLEMS) break;
    const key = block.bytes.toString('latin1');
    getOrInsert(anchors, key, () => []).push(index);
    index++;
  }
  if (problems.length === 0 && anchors.size === 0) problems.push('at least one trust anchor must be provided');
  if (problems.length === 0) {
    for (const places of anchors.values()) {
      if (places.length > 1) problems.push(`duplicate trust anchor (indices [${places.join(' ')}])`);
    }
  }
  return problems.map((problem) => invalid('', OMITTED, problem));
}

function blockProblem({ type, hasHeaders, bytes }: PemBlock): string | undefined {
  if (type !== 'CERTIFICATE') return `has bad block type: ${type}`;
  if (hasHeaders) return 'has PEM block headers';
  const certificate = parsed(bytes);
  if (!certificate) return 'does not parse as X.509';
  return certificate.ca ? undefined : 'does not have the CA bit set';
}

function parsed(bytes: Buffer): X509Certificate | undefined {
  try {
    return new X509Certificate(bytes);
  } catch {
    // The parser throws for anything that is not a certificate; the reason does not matter here.
    return undefined;
  }
}
