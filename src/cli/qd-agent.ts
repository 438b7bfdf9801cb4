/**
 * The program `qd` as `qd agent` runs it: without the server and the other commands, because an agent runs for long on machines
 * whose memory belongs to pods.
 */
import { agentCommand } from './agent/command.ts';
import { keepHeapSmall } from './process/heap-growth.ts';
import { DESCRIPTION, runProgram } from './program.ts';

keepHeapSmall();

void runProgram('qd', DESCRIPTION, [agentCommand()]);
