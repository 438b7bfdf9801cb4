import {
  checkForm,
  formsWithoutTable,
  hasRows,
  includeOf,
  type ObjectForm,
  objectForms,
} from '../../representations/forms.ts';
import { negotiate, negotiateStream, type Representation } from '../respond/accept.ts';
import type { ObjectRequest } from './object-request.ts';

const PLAIN_JSON: Representation<ObjectForm> = { format: 'json', pretty: false };

/** Chooses the representation of a response before anything is done. Throws a NotAcceptable or a BadRequest. */
export function negotiateResponse({ exchange, route, verb, query }: ObjectRequest): Representation<ObjectForm> {
  // A log is text, and what is proxied is something else, whatever the client accepts; errors are JSON.
  const content = route.subresource?.descriptor.content.type;
  if (content === 'text' || content === 'connection') return PLAIN_JSON;
  const { accept } = exchange.headers;
  const representation = verb === 'watch' ? negotiateStream(accept, objectForms) : negotiate(accept, objectForms);
  if (representation.form?.kind === 'Table' && !route.subresource && !hasRows(route.resource)) {
    return negotiate(accept, formsWithoutTable);
  }
  if (representation.form) {
    checkForm(representation.form, verb, route.resource);
    includeOf(query.includeObject);
  }
  return representation;
}
