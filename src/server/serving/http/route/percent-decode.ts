import { badRequest } from '../../../../api/errors.ts';

/** Decodes percent-encoding; in a query, a plus is a space. Throws a BadRequest for invalid UTF-8. */
export function decodeComponent(text: string, query = false): string {
  const spaced = query && text.includes('+') ? text.replaceAll('+', ' ') : text;
  if (!spaced.includes('%')) return spaced;
  try {
    return decodeURIComponent(spaced);
  } catch (cause) {
    throw badRequest(`invalid URL escape in ${JSON.stringify(text.slice(0, 100))}`, cause);
  }
}
