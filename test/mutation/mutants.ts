/** One way of breaking the code, and the tests that have to notice. */
export interface Mutant {
  name: string;
  /** What would happen to a user. */
  harm: string;
  file: string;
  /** Stands in the file exactly once. */
  from: string;
  to: string;
  /** Test files, any of which may catch it; the quickest first. */
  tests: readonly string[];
}

const exchange = 'lib/due-set/exchange.lua';
const claim = 'lib/due-set/claim.lua';
const admit = 'lib/due-set/admit.lua';
const dueSet = ['test/contract/due-set.test.ts'];
const drain = ['test/contract/drain.test.ts'];

export const mutants: readonly Mutant[] = [
  {
    name: 'settle-without-token',
    harm: 'a drain that lost its lease overwrites the one that has the job now',
    file: exchange,
    from: 'if score and score == token then',
    to: 'if score then',
    tests: dueSet,
  },
  {
    name: 'claim-without-lease',
    harm: 'two drains work the same job at once',
    file: admit,
    from: "if #leased > 0 then redis.call('ZADD', due, unpack(leased)) end",
    to: '',
    tests: dueSet,
  },
  {
    name: 'claim-a-live-lease',
    harm: 'a job is taken from a drain that works on it',
    file: claim,
    from: 'local ripe = score <= (claims > 0 and now or reach)',
    to: 'local ripe = score <= reach',
    tests: dueSet,
  },
  {
    name: 'claims-never-counted',
    harm: 'a job that kills its drain is never noticed',
    file: claim,
    from: 'claims = math.min(claims + 1, 15)',
    to: 'claims = 1',
    tests: dueSet,
  },
  {
    name: 'lost-settle-taken-for-stale',
    harm: 'a settlement whose reply was lost counts as a lost lease',
    file: exchange,
    from: 'elseif score ~= (tonumber(to) or false) then',
    to: 'else',
    tests: dueSet,
  },
  {
    name: 'lease-never-renewed',
    harm: 'a slow answer outlives its lease and the job is read twice at once',
    file: 'lib/hand.ts',
    from: 'if (held.leaseEndMs - latestNowMs > this.#leaseMs / 2) return null;',
    to: 'return null;',
    tests: ['test/unit/hand.test.ts', 'test/unit/hand-properties.test.ts'],
  },
  {
    name: 'renewal-forgotten',
    harm: 'after a lost reply the drain no longer knows its token',
    file: 'lib/hand.ts',
    from: "if (held.renewing !== null) return { kind: 'renew', token: held.renewing };",
    to: '',
    tests: ['test/unit/hand.test.ts', 'test/unit/hand-properties.test.ts'],
  },
  {
    name: 'settle-before-the-record',
    harm: 'a job leaves the due set although its end was never written',
    file: 'lib/step.ts',
    from: '    return retryLater(ports, notBeforeMs);\n  }\n}',
    to: "    return decision.kind === 'end' ? { settle: { kind: 'remove' }, job: null } : retryLater(ports, notBeforeMs);\n  }\n}",
    tests: ['test/unit/step.test.ts', ...drain],
  },
  {
    name: 'fresh-key-on-repeat',
    harm: 'a repeated create is a second clip and a second bill',
    file: 'lib/providers/sume.ts',
    from: '{job.id}` },',
    to: '{job.id + job.revision}` },',
    tests: ['test/contract/sume.test.ts', ...drain],
  },
  {
    name: 'retry-on-exchange',
    harm: 'the client repeats an exchange whose reply was lost, and claims twice',
    file: 'lib/due-set/upstash-due-set.ts',
    from: 'retry: { retries: 0 },',
    to: 'retry: { retries: 3 },',
    tests: ['test/contract/due-set-trouble.test.ts'],
  },
  {
    name: 'sweep-without-the-consistent-read',
    harm: 'an ended job comes back to life from a stale index',
    file: 'lib/sweep.ts',
    from: 'const lost = jobs.filter((job) => isActive(job.state));',
    to: 'const lost = jobs;',
    tests: ['test/unit/sweep.test.ts', ...drain],
  },
  {
    name: 'unconditional-update',
    harm: 'the later writer wins, and an ended job changes its end',
    file: 'lib/job-store/update-revision.ts',
    from: "ConditionExpression: '#revision = :expected',",
    to: "ConditionExpression: '#revision = :expected OR attribute_exists(id)',",
    tests: ['test/contract/job-store.test.ts'],
  },
  {
    name: 'unprocessed-keys-dropped',
    harm: 'live jobs are taken for absent and leave the due set',
    file: 'lib/job-store/batch-get.ts',
    from: 'keys = reply.UnprocessedKeys?.[table]?.Keys ?? [];',
    to: 'keys = [];',
    tests: ['test/contract/job-store-reads.test.ts', 'test/contract/job-store-faults.test.ts'],
  },
  {
    name: 'read-before-its-time',
    harm: 'the provider is asked earlier than it said',
    file: 'lib/set-clock.ts',
    from: '    return nowMs + drifted(this.#earliest, nowMs, -1);',
    to: '    return nowMs + drifted(this.#latest, nowMs, 1) + 20;',
    tests: ['test/unit/set-clock.test.ts', ...drain],
  },
  {
    name: 'one-404-is-the-end',
    harm: 'a paid render is given up because of one blip',
    file: 'lib/decide.ts',
    from: 'missed.missingReads >= missingReadsMin && nowMs - missingSinceMs >= missingForMinMs',
    to: 'missed.missingReads >= 1',
    tests: ['test/unit/decide.test.ts', 'test/unit/decide-properties.test.ts'],
  },
  {
    name: 'deadline-moves',
    harm: 'a job that is found late never gets overdue',
    file: 'lib/decide.ts',
    from: "  if (nowMs < job.deadlineAtMs) return null;\n  if (job.state === 'waiting')",
    to: "  if (nowMs < job.deadlineAtMs + 86_400_000) return null;\n  if (job.state === 'waiting')",
    tests: ['test/unit/decide.test.ts', 'test/unit/decide-properties.test.ts'],
  },
  {
    name: 'slots-not-counted',
    harm: 'more clips are sent than the workspace takes',
    file: 'lib/due-set/slots.lua',
    from: 'local free = (maxInFlight or math.huge) - inUse',
    to: 'local free = maxInFlight or math.huge',
    tests: ['test/contract/due-set-waiting.test.ts'],
  },
  {
    name: 'owners-not-in-turn',
    harm: 'an owner with thousands of jobs keeps all others waiting',
    file: 'lib/due-set/enqueue.lua',
    from: 'local round = math.max(line[name], rounds[order + 1] or 0) + 1',
    to: 'local round = came + 1',
    tests: ['test/contract/due-set-waiting.test.ts'],
  },
  {
    name: 'budget-not-spent',
    harm: 'the provider refuses reads because there were too many in a minute',
    file: 'lib/due-set/claim.lua',
    from: 'reads.spent(made)',
    to: 'reads.spent(0)',
    tests: ['test/contract/due-set-budgets.test.ts'],
  },
  {
    name: 'hold-not-kept',
    harm: 'a provider that asked to be left alone for a minute is asked again at once',
    file: 'lib/due-set/breaker.lua',
    from: "limit = math.min(limit, now < at and 0 or state == 'denied' and 1 or probesAtOnce)",
    to: 'limit = math.min(limit, probesAtOnce)',
    tests: ['test/contract/due-set-budgets.test.ts'],
  },
  {
    name: 'repeat-not-made-due',
    harm: 'a submit that got no further than the record waits for the sweep, however often it is repeated',
    file: 'lib/submit.ts',
    from: "if (result.kind === 'accepted') await putInLine(ports, [result.job]);",
    to: "if (result.kind === 'accepted' && !result.replayed) await putInLine(ports, [result.job]);",
    tests: ['test/unit/found-faults.test.ts', 'test/contract/api.test.ts'],
  },
];
