import { hasProtobufForm } from '../../protobuf/shapes.ts';
import { checkForm, hasRows, includeOf, type ObjectForm, offersFor, textOffers } from '../../representations/forms.ts';
import { isPlainJson, negotiate, negotiateStream, type Representation } from '../respond/accept.ts';
import type { ObjectRequest } from './object-request.ts';

const PLAIN_JSON: Representation<ObjectForm> = { format: 'json', pretty: false };

/** Chooses the representation of a response before anything is done. Throws a NotAcceptable or a BadRequest. */
export function negotiateResponse({ exchange, route, verb, query }: ObjectRequest): Representation<ObjectForm> {
  // A log is always text, and proxied content is arbitrary, regardless of the Accept header; errors are JSON.
  const content = route.subresource?.descriptor.content.type;
  if (content === 'text' || content === 'connection') return PLAIN_JSON;
  const { accept } = exchange.headers;
  if (isPlainJson(accept)) return PLAIN_JSON;
  const hasTable = route.subresource !== undefined || hasRows(route.resource);
  const offers = exchange.watchFraming === 'frames' ? textOffers : offersFor(hasProtobufForm(route.resource), hasTable);
  const representation = verb === 'watch' ? negotiateStream(accept, offers) : negotiate(accept, offers);
  if (representation.form) {
    checkForm(representation.form, verb, route.resource);
    includeOf(query.includeObject);
  }
  return representation;
}
