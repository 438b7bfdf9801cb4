#!/usr/bin/env node
/** The federation tool. Its commands come with federation; today it says which release it is. */
import { runProgram } from './program.ts';

void runProgram('qdfed', 'Administers a federation of clusters.', []);
