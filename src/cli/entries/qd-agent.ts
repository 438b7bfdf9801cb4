/**
 * The program `qd` as `qd agent` runs it: without the server and the other commands, because an agent runs for long on machines
 * whose memory belongs to pods.
 */

import { keepHeapSmall } from '../../assembly/threads/heap-growth.ts';
import { agentCommand } from '../agent/command.ts';
import { DESCRIPTION, runProgram } from '../process/program.ts';

keepHeapSmall();

void runProgram('qd', DESCRIPTION, [agentCommand()]);
