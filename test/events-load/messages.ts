/* What the rig and its processes say to each other, over Node's channel between parent and child. */

/** `event` is JSON. */
export interface Invocation {
  event: string;
}

/** A function's run ended by itself. */
export interface RunEnded {
  report: Record<string, unknown>;
}

/** To the provider: forget what was seen, and look at the reads of these jobs from now on. Answered with an empty object. */
export interface WatchReads {
  kind: 'watch';
  /** The provider's ids. */
  ids: string[];
}

/** To the provider and to the receivers: what was seen so far? */
export interface AskSeen {
  kind: 'seen';
}

export interface ReadsSeen {
  /** Of each read but a job's first: how long after its hint was over it came, ms; below 0 when it was early. */
  latenessMs: number[];
}

export interface EventsSeen {
  /** Of each event that the good receiver got: from the event's own time until it arrived first, ms. */
  delaysMs: number[];
  /** Requests with one of these events again. */
  repeats: number;
  /** Requests that came to the receiver that hangs. */
  hanging: number;
}
