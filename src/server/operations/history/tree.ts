/**
 * What is at `/history` besides the paths of the API:
 *
 *     GET    /history            how far history reaches, and when which version was the newest
 *     GET    /history/changes    the changes of all objects that the user may read, newest first
 *     POST   /history/undo       returns a set of changes to the state before it
 *     DELETE /history            deletes history, for administrators
 */
import { methodNotAllowed, noSuchPath } from '../../../api/errors.ts';
import { HISTORY_PATH } from '../../../api/past.ts';
import type { ServedTree, TreeRequest } from '../../../api/served-action.ts';
import type { RevisionTimes } from '../../objects/revision-times.ts';
import { toApiError } from '../api-error.ts';
import type { OperationPorts } from '../ports.ts';
import { allChanges } from './all-changes.ts';
import { newestRevision } from './moment.ts';
import { purgeHistory } from './purge.ts';
import { answerUndo } from './undo/answer-undo.ts';

export function historyTree(core: OperationPorts, times: RevisionTimes): ServedTree {
  const paths: Readonly<Record<string, (request: TreeRequest) => Promise<object>>> = {
    [`GET ${HISTORY_PATH}`]: async () => {
      await newestRevision(core);
      return times.document(core.archive.bounds());
    },
    [`GET ${HISTORY_PATH}/changes`]: (request) => allChanges(core, request),
    [`POST ${HISTORY_PATH}/undo`]: (request) => answerUndo(core, request),
    [`DELETE ${HISTORY_PATH}`]: (request) => purgeHistory(core, request),
  };
  const isPath = (path: string) => Object.keys(paths).some((each) => each.endsWith(` ${path}`));
  return {
    root: HISTORY_PATH,
    async answer(request) {
      const path = request.path.replace(/\/$/, '');
      const method = request.method === 'HEAD' ? 'GET' : request.method;
      const answer = paths[`${method} ${path}`];
      if (!answer) throw isPath(path) ? methodNotAllowed() : noSuchPath();
      try {
        return await answer(request);
      } catch (error) {
        throw toApiError(core, error, { verb: request.method.toLowerCase(), path }, () => request.signal);
      }
    },
  };
}
