#!/usr/bin/env node
/** The program `qdfed`, which will administer federations. Today it only prints its version. */
import { runProgram } from './program.ts';

void runProgram('qdfed', 'Administers a federation of clusters.', []);
