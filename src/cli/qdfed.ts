#!/usr/bin/env node
/** The program `qdfed`, which administers federations. The work of a command is loaded when the command runs. */
import { runProgram } from './program.ts';
import { initCommand, joinCommand, unjoinCommand } from './qdfed/commands.ts';

void runProgram('qdfed', 'Administers a federation of clusters.', [initCommand(), joinCommand(), unjoinCommand()]);
