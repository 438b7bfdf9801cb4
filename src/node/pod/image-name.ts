/** Parses image references (`registry:5000/path/name:tag@digest`) by the rules of container runtimes. */

const HOST =
  '(?:(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)(?:\\.[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)*|\\[[a-fA-F0-9:]+\\])';
const PART = '[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*';
const TAG = '\\w[\\w.-]{0,127}';
const DIGEST = '[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}';
const REFERENCE = new RegExp(`^(?:${HOST}(?::\\d+)?/)?${PART}(?:/${PART})*(?::${TAG})?(?:@${DIGEST})?$`);
/** A bare digest is ambiguous: it could also be an image ID. */
const BARE_DIGEST = /^[a-f0-9]{64}$/;

/** Returns why the image reference is invalid; undefined when it is valid. */
export function imageNameError(image: string): string | undefined {
  if (REFERENCE.test(image) && !BARE_DIGEST.test(image)) return undefined;
  return `couldn't parse image name "${image}": ${formatError(image)}`;
}

function formatError(image: string): string {
  if (BARE_DIGEST.test(image)) return `invalid repository name (${image}), cannot specify 64-byte hexadecimal strings`;
  if (!REFERENCE.test(image.toLowerCase())) return 'invalid reference format';
  const repository = image.replace(/[:@][^/]*$/, '');
  const path = repository.includes('/') ? repository : `library/${repository}`;
  return `invalid reference format: repository name (${path}) must be lowercase`;
}
