/** Parses image names as far as the API needs it: the tag. */

const hostPart = '(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])';
const host = `${hostPart}(?:\\.${hostPart})*(?::[0-9]+)?`;
const pathPart = '[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*';
const digest = '[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}';
const imageName = new RegExp(`^(?:${host}/)?${pathPart}(?:/${pathPart})*(?::([\\w][\\w.-]{0,127}))?(?:@(${digest}))?$`);

/** The default pull policy of an image. A name that cannot be parsed counts as one with a tag. */
export function pullPolicyOf(image: string | undefined): 'Always' | 'IfNotPresent' {
  const match = image ? imageName.exec(image) : undefined;
  if (!match) return 'IfNotPresent';
  const [, tag, pinned] = match;
  return tag === 'latest' || (tag === undefined && pinned === undefined) ? 'Always' : 'IfNotPresent';
}
