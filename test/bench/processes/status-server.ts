/**
 * The provider, reduced to what a read needs: answers `GET /v1/jobs/sim_<n>/status` after a while, counts, and measures.
 * It parses HTTP by hand on plain sockets, because it must cost little: it shares the machine with what it measures.
 * Started by the benchmark, which talks to it over the process channel (`StatusRequest`, `StatusReply`).
 */

import type { AddressInfo } from 'node:net';
import { createServer, type Socket } from 'node:net';
import { jobOfProviderId, providerIdOf } from '../job-names.ts';
import type { StatusPlan, StatusReply, StatusRequest } from '../messages.ts';
import { ReadWatch } from '../read-watch.ts';

/** As the provider sends them with every answer; parsing them is part of everyone's work. */
const commonHead =
  'Content-Type: application/json\r\nX-Request-Id: req_0000000000\r\nRateLimit-Limit: 120\r\nRateLimit-Remaining: 119\r\n' +
  'RateLimit-Reset: 60\r\nX-RateLimit-Limit: 120\r\nX-RateLimit-Remaining: 119\r\nX-RateLimit-Reset: 60\r\n';
const notFound = '{"error":{"code":"not_found","message":"No such job.","details":{}},"request_id":"req_0"}';
const headEnd = '\r\n\r\n';

let plan: StatusPlan = {
  kind: 'plan',
  jobs: 0,
  polls: 1,
  hintSeconds: 1,
  answerMs: { mean: 0, spread: 0 },
  firstDueAtMs: 0,
  dueStepMs: 0,
};
let watch = new ReadWatch({ dueAtMs: [], polls: 1, hintMs: 1000 });
let plannedAtMs = 0;

const server = createServer({ noDelay: true }, serve);

function serve(socket: Socket): void {
  let text = '';
  const underWay = new Map<number, ReadWatch>();
  socket.setEncoding('latin1');
  socket.on('data', (chunk: string) => {
    text += chunk;
    for (let end = text.indexOf(headEnd); end >= 0; end = text.indexOf(headEnd)) {
      const head = text.slice(0, end);
      const length = head.startsWith('GET') ? 0 : Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
      if (text.length < end + headEnd.length + length) return;
      text = text.slice(end + headEnd.length + length);
      answer(socket, head, underWay);
    }
  });
  socket.on('error', () => {});
  socket.on('close', () => {
    for (const [job, run] of underWay) run.cut(job);
    underWay.clear();
  });
}

function answer(socket: Socket, head: string, underWay: Map<number, ReadWatch>): void {
  const [method, path = ''] = head.slice(0, head.indexOf('\r\n')).split(' ', 2);
  if (method === 'POST' && path === '/v1/videos') {
    const job = watch.add(performance.now());
    send(socket, 202, body(job, 'queued', plan.hintSeconds));
    return;
  }
  const job = jobOfProviderId(/^\/v1\/jobs\/([^/]+)\/status$/.exec(path)?.[1] ?? '');
  const run = watch;
  if (job === undefined || !run.arrived(job, performance.now())) {
    send(socket, 404, notFound);
    return;
  }
  underWay.set(job, run);
  const { mean, spread } = plan.answerMs;
  setTimeout(
    () => {
      if (!underWay.delete(job)) return;
      const state = run.answered(job, performance.now());
      // Failed, not completed: a success would have some contenders fetch the result too, and one read is to be one call.
      send(socket, 200, state === 'ended' ? body(job, 'failed', null) : body(job, 'processing', plan.hintSeconds));
    },
    mean + (Math.random() * 2 - 1) * spread,
  );
}

function body(job: number, status: string, hintSeconds: number | null): string {
  return `{"id":"${providerIdOf(job)}","status":"${status}","sume_status":"${status}","terminal":${hintSeconds === null},"next_poll_after_seconds":${hintSeconds}}`;
}

function send(socket: Socket, status: number, text: string): void {
  socket.write(`HTTP/1.1 ${status} X\r\n${commonHead}Content-Length: ${text.length}\r\n\r\n${text}`, 'latin1');
}

function begin(next: StatusPlan): void {
  plan = next;
  // Due times come on the wall clock; the sub-millisecond part of the difference does not matter for first reads.
  const monotonicMinusWallMs = performance.now() - Date.now();
  const dueAtMs = Array.from(
    { length: plan.jobs },
    (_, job) => plan.firstDueAtMs + job * plan.dueStepMs + monotonicMinusWallMs,
  );
  watch = new ReadWatch({ dueAtMs, polls: plan.polls, hintMs: plan.hintSeconds * 1000 });
  plannedAtMs = performance.now();
}

function reply(request: StatusRequest): StatusReply {
  switch (request.kind) {
    case 'plan':
      begin(request);
      return { kind: 'done' };
    case 'killed':
      watch.killed(performance.now());
      return { kind: 'done' };
    case 'progress': {
      const { reads, ended, lastAtMs } = watch.progress;
      return { kind: 'progress', reads, ended, quietMs: performance.now() - Math.max(lastAtMs, plannedAtMs) };
    }
    case 'report':
      return { kind: 'report', ...watch.report() };
  }
}

process.on('message', (request: StatusRequest) => process.send?.(reply(request)));
process.on('disconnect', () => process.exit(0));
server.listen(Number(process.env.PORT ?? 0), '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.send?.({ kind: 'ready', url: `http://127.0.0.1:${port}` });
});
