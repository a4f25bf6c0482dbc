#!/usr/bin/env node
// Starts the program of this platform's package, which npm installed beside this one.
'use strict';
const { spawnSync } = require('node:child_process');

const program = process.platform === 'win32' ? 'llsd.exe' : 'llsd';
const name = `@llsd/${process.platform}-${process.arch}`;
let file;
try {
  file = require.resolve(`${name}/${program}`);
} catch {
  console.error(`llsd: ${name} is not installed. Either there is no llsd for this platform, or npm was told to leave out optional dependencies.`);
  process.exit(2);
}
const ran = spawnSync(file, process.argv.slice(2), { stdio: 'inherit' });
if (ran.error) {
  console.error(`llsd: cannot start ${file}: ${ran.error.message}`);
  process.exit(2);
}
// As a shell tells that a signal ended it.
process.exit(ran.status ?? 128 + require('node:os').constants.signals[ran.signal]);
