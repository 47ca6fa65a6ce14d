const hide = `import fs from 'node:fs'; import { syncBuiltinESMExports } from 'node:module';
  const real = fs.accessSync;
  fs.accessSync = (path, mode) => { if (/(redis|valkey)-server$/.test(path)) throw new Error('hidden'); real(path, mode); };
  syncBuiltinESMExports();`;

/**
 * Node's flags for a process on a machine without Redis. It may stand in folders that are searched whatever the PATH: in that
 * process no file of that name can be run.
 */
export const withoutRedis = ['--import', `data:text/javascript,${encodeURIComponent(hide)}`];
