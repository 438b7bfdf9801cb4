import { HttpError } from '../errors.ts';
import { NO_QUERY, parseQuery, type Query } from '../route/query.ts';
import type { Route } from '../route/route.ts';

export class RequestTarget {
  readonly path: string;
  /** The query as sent, without its question mark. */
  readonly search: string;
  #query: Query | undefined;

  constructor(url: string) {
    const mark = url.indexOf('?');
    this.path = mark < 0 ? url : url.slice(0, mark);
    this.search = mark < 0 ? '' : url.slice(mark + 1);
  }

  /** The parsed query, parsed on first use. Throws a BadRequest. */
  get query(): Query {
    this.#query ??= this.search === '' ? NO_QUERY : parseQuery(this.search);
    return this.#query;
  }

  /** Returns the part of the query that is meant for the API: the query of a proxied program is the program's own. */
  queryOf(route: Route): Query {
    return route.path === undefined ? this.query : NO_QUERY;
  }

  /** The query if it has been parsed, for reporting an error, which may be about the query itself. */
  get parsedQuery(): Query {
    return this.#query ?? NO_QUERY;
  }
}

export function checkUrlLength(url: string, maxLength: number): void {
  if (url.length > maxLength) throw new HttpError(414, `the URL is longer than ${maxLength} characters`);
}
