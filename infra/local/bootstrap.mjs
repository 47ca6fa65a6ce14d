// The door of `npm start` and `npm test`. It imports nothing before the version of Node is known to be enough, so that an
// old Node prints one clear line instead of a syntax error from a file that it can't read.
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(
    `Pollkeeper needs Node 20.19 or newer; this is Node ${process.versions.node} (see https://nodejs.org).`,
  );
  process.exit(1);
}
import('./bootstrap/run-command.mjs').then((module) => module.runCommand(process.argv.slice(2)));
