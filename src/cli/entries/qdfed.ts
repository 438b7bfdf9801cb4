#!/usr/bin/env node
/** The program `qdfed`, which administers federations. The work of a command is loaded when the command runs. */
import { runProgram } from '../process/program.ts';
import { qdfedCommands } from '../qdfed/commands.ts';

void runProgram('qdfed', 'Administers a federation of clusters.', qdfedCommands());
