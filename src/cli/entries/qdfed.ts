#!/usr/bin/env node
/** The program `qdfed`, which administers federations. The work of a command is loaded when the command runs. */
import { runProgram } from '../process/program.ts';
import {
  federateCommand,
  getCommand,
  initCommand,
  joinCommand,
  statusCommand,
  unjoinCommand,
} from '../qdfed/commands.ts';

void runProgram('qdfed', 'Administers a federation of clusters.', [
  initCommand(),
  joinCommand(),
  unjoinCommand(),
  federateCommand(),
  getCommand(),
  statusCommand(),
]);
