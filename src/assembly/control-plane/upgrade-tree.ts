/** The path at which administrators replace the program of a server. */
import { ApiError } from '../../api/errors.ts';
import { answerUpgrade, UPGRADE_PATH, type UpgradePort } from '../../api/machine-upgrade.ts';
import type { ServedTree } from '../../api/served-action.ts';

/** Who has not said who they are: what they may do to objects, they may not do to the machine. */
const UNKNOWN_USERS: ReadonlySet<string> = new Set(['system:anonymous', 'system:unsecured']);

export function upgradeTree(port: UpgradePort): ServedTree {
  return {
    root: UPGRADE_PATH,
    async answer({ user, ...request }) {
      if (UNKNOWN_USERS.has(user.name)) {
        throw new ApiError(
          'Forbidden',
          `${UPGRADE_PATH} is for users who have authenticated, and not for ${user.name}`,
        );
      }
      return answerUpgrade(request, port);
    },
  };
}
