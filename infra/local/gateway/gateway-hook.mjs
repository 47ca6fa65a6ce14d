/* Loaded into the emulator's process before the emulator itself (`node --import`), and by Node into its worker threads too. */
import { subscribe } from 'node:diagnostics_channel';
import process from 'node:process';
import { isMainThread } from 'node:worker_threads';

if (isMainThread) {
  // On Lambda, a function that fails after an asynchronous invoke harms nothing else. The emulator leaves that promise
  // unhandled, and Node would end the whole gateway for it.
  process.on('unhandledRejection', (reason) => {
    console.error('An invocation failed:', reason);
  });

  // The same for an error thrown outside any promise: it ends the worker, as it ends the environment on Lambda. The
  // invocation in hand gets no answer then, and the emulator replaces the worker at the function's timeout.
  process.on('worker', (worker) => {
    worker.on('error', (error) => console.error('A function crashed:', error));
  });

  // API Gateway hands on lower-case names, with the values of a repeated one joined; the emulator keeps the client's spelling
  // for the authorizer, and the last value only. It also has a header of its own that overrules the authorizer: not here.
  subscribe('http.server.request.start', ({ request }) => {
    // Node makes `headers` of `rawHeaders` when first asked, and would stumble over a changed list.
    delete request.headers['sls-offline-authorizer-override'];
    const values = new Map();
    for (let place = 0; place < request.rawHeaders.length; place += 2) {
      const name = request.rawHeaders[place].toLowerCase();
      const value = request.rawHeaders[place + 1];
      values.set(name, values.has(name) ? `${values.get(name)},${value}` : value);
    }
    values.delete('sls-offline-authorizer-override');
    request.rawHeaders.splice(0, request.rawHeaders.length, ...[...values].flat());
  });

  // The process that started this one is gone, and nobody else knows of it.
  process.on('disconnect', () => process.exit());
  process.channel?.unref();
}
