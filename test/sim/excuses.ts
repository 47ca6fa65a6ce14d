/*
 * Where a rule is broken and the run goes on all the same, each with its reason. A run counts how often each was needed;
 * whatever has no excuse is a violation.
 */

const excuses = {
  crashed: 'A call is under way twice: the drain that began the first is dead, and nobody waits for its answer.',
  paused: 'A call is under way twice: the process of the first stood still until its lease had ended.',
  voided: 'Redis was wiped or rolled back since the claim: its drain works on a lease that is gone, until it is told.',
  unsettled:
    'Read early: a wait that stands in no record was told to a drain that could not settle before its lease ended.',
  rolledBack:
    'Read early: Redis was rolled back to a due time from before a wait was told that stands in no copy of the record.',
  forgotten: 'Read early: the wait that was told could not be written down, and then Redis lost it too.',
  resubmitted:
    'Read early: Redis lost the job while a submit or a sweep, which had found it unsent a moment before, was putting it in.',
  pulled:
    'Read early: a cancel that came late, or for a second time, made the job due when the provider had been told of it already.',
  inDoubt: 'An event is pending for nobody: its writer could not read which endpoints the owner has.',
  unannounced:
    'An event is made out late: its announcement failed, and its job, which goes on and is in the set, is only looked at when it is due.',
  meterLost:
    'More calls in a minute than the limit: Redis lost the count of some, or was rolled back to one from before.',
  heldUp: 'More calls in a minute than the limit: some began more than two seconds after they were counted.',
  otherKind:
    'More calls in a minute than the limit: a job that was admitted was read, or one that was due was sent, and that counts only once it is told.',
  untold:
    'More reads in a minute than the limit: a drain fetched a result and lost its lease before it could tell of that.',
} as const;

export type Excuse = keyof typeof excuses;

export function reasonOf(excuse: Excuse): string {
  return excuses[excuse];
}
