import type { CallOptions } from '../../../../api/call.ts';
import { badRequest } from '../../../../api/errors.ts';
import type { WorkMonitor } from '../../../../base/event-loop/watchdog.ts';
import type { RequestBodies } from '../body/request-bodies.ts';
import { NO_QUERY } from '../route/query.ts';
import type { ObjectRequest } from './object-request.ts';
import { NO_CONTENT, RequestCall } from './request-call.ts';

/** Reads the content of a request and creates its call. Reads have no content, and are synchronous. */
export function readCallStage({ bodies, monitor }: { readonly bodies: RequestBodies; readonly monitor: WorkMonitor }) {
  return (request: ObjectRequest): RequestCall | Promise<RequestCall> => {
    const { verb, route, query } = request;
    const options = query === NO_QUERY ? undefined : query.options;
    if (verb === 'get' || verb === 'list') return new RequestCall(request, options, NO_CONTENT);
    if (verb === 'watch') {
      const selecting = route.name === undefined ? options : selectName(query.options, route.name);
      return new RequestCall(request, selecting, NO_CONTENT);
    }
    return readContent(request, options);
  };

  /** Reads the content. Other requests may use the seat while the body arrives. */
  async function readContent(request: ObjectRequest, options: CallOptions | undefined): Promise<RequestCall> {
    const { exchange, route, verb, lifecycle } = request;
    const content = await lifecycle.releaseSeatWhile(
      bodies.read(exchange, { route, verb, options, begin: () => monitor.begin(lifecycle) }),
    );
    return new RequestCall(request, options, content);
  }
}

/** Turns a watch on one object into a watch on the list with its name; a field selector in the query must agree. */
function selectName(options: CallOptions, name: string): CallOptions {
  const own = `metadata.name=${name}`;
  const given = options.fieldSelector;
  if (!given) return { ...options, fieldSelector: own };
  if (!given.split(',').some((term) => term === own || term === `metadata.name==${name}`)) {
    throw badRequest("fieldSelector metadata.name doesn't match requested name");
  }
  return options;
}
