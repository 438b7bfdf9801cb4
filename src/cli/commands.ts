/** All commands of `qd`, in the order of the help. The work of a command is loaded when the command runs. */
import type { Command } from 'commander';
import { agentCommand } from './agent/command.ts';
import { downCommand, listCommand, resetCommand } from './clusters/commands.ts';
import { serverCommand } from './clusters/servers/command.ts';
import { serviceCommand } from './clusters/service/command.ts';
import { statusCommand } from './clusters/status/command.ts';
import { certsCommand } from './credentials/certs/command.ts';
import { tokenCommand } from './credentials/token/command.ts';
import { encryptionCommand } from './encryption/command.ts';
import { explainPodCommand } from './explain-pod/command.ts';
import { federationServerCommand } from './federation/apiserver/command.ts';
import { federationManagerCommand } from './federation/controller-manager/command.ts';
import { diffCommand, getCommand, historyCommand, undoCommand } from './history/commands.ts';
import { imageCommand } from './image/command.ts';
import { proxyCommand } from './proxy/command.ts';
import { backupCommand } from './store/backup/command.ts';
import { storeCommand } from './store/migrate/command.ts';
import { restoreCommand } from './store/restore/command.ts';
import { snapshotCommand } from './store/snapshot/command.ts';
import { clockCommand } from './testing/clock/command.ts';
import { faultCommand } from './testing/fault/command.ts';
import { upCommand } from './up/command.ts';
import { upgradeCommand } from './up/upgrade/command.ts';

export const commands = (): readonly Command[] => [
  upCommand(),
  agentCommand(),
  listCommand(),
  statusCommand(),
  downCommand(),
  resetCommand(),
  serviceCommand(),
  upgradeCommand(),
  proxyCommand(),
  tokenCommand(),
  serverCommand(),
  certsCommand(),
  encryptionCommand(),
  backupCommand(),
  restoreCommand(),
  snapshotCommand(),
  storeCommand(),
  imageCommand(),
  clockCommand(),
  faultCommand(),
  getCommand(),
  diffCommand(),
  undoCommand(),
  historyCommand(),
  explainPodCommand(),
  federationServerCommand(),
  federationManagerCommand(),
];
